use super::*;

fn mk_figures() -> Figures {
    let row = |(subject, cpu): (Subject, f64)| Row {
        scenario: TYPICAL_POD.name,
        subject,
        p50: cpu * 2.0,
        p99: cpu * 3.0,
        rate: 100.0,
        cpu,
    };
    let cpu = [0.001, 0.0014, 0.00175, 0.014];
    Figures {
        rows: Subject::ALL.into_iter().zip(cpu).map(row).collect(),
        resident: Subject::ALL.map(|subject| (subject, 40 << 20)).to_vec(),
        endurance: Endurance {
            requests: 20_000,
            concurrency: 32,
            failures: 0,
            failure: None,
            resident: [90, 80, 10, 100, 90, 100, 120, 70, 60, 111, 105, 110].map(|mebibytes| mebibytes << 20).to_vec(),
        },
    }
}

fn exceeded(figures: &Figures) -> Vec<f64> {
    figures.budgets().into_iter().filter(|budget| !budget.holds()).map(|budget| budget.figure).collect()
}

#[test]
fn each_budget_is_on_its_figure() {
    let mut figures = mk_figures();
    assert_eq!(exceeded(&figures), [0.0; 0]);
    figures.rows[1].cpu = 0.002;
    assert_eq!(exceeded(&figures), [2.0, 7.0]);
    figures.rows[2].cpu = 0.004;
    assert_eq!(exceeded(&figures), [2.0, 4.0, 7.0, 3.5]);

    let mut figures = mk_figures();
    figures.endurance.failures = 1;
    figures.endurance.resident = vec![1 << 20, 100 << 20, 1 << 20, 151 << 20];
    assert_eq!(exceeded(&figures), [1.0, 1.51]);
}

#[test]
fn what_was_not_measured_does_not_hold() {
    let mut figures = mk_figures();
    figures.rows.clear();
    figures.endurance.resident.truncate(3);
    assert_eq!(exceeded(&figures).len(), 5);
}

#[test]
fn a_row_is_the_middle_of_its_rounds() {
    let load = |rate, p50, p99, cpu| Load {
        rate,
        p50: Duration::from_millis(p50),
        p99: Duration::from_millis(p99),
        cpu: Duration::from_millis(cpu),
    };
    let rounds = [load(10.0, 1, 9, 1), load(30.0, 5, 7, 2), load(20.0, 2, 8, 6)];
    let row = Row::of("x", Subject::Linkerd, &rounds);
    let expected = Row { scenario: "x", subject: Subject::Linkerd, p50: 0.002, p99: 0.008, rate: 20.0, cpu: 0.003 };
    assert_eq!(row, expected);
}

#[test]
fn the_tables_have_every_figure() {
    let table = mk_figures().table();
    let expected = "\
| request | answered by | p50 | p99 | requests/s | CPU a request | p50, × accept-everything | CPU, × accept-everything |
|---|---|--:|--:|--:|--:|--:|--:|
| typical pod | accept-everything | 2.00 ms | 3.00 ms | 100 | 1.00 ms | 1.00 | 1.00 |
| typical pod | this policy, settings | 2.80 ms | 4.20 ms | 100 | 1.40 ms | 1.40 | 1.40 |
| typical pod | this policy, ConfigMaps | 3.50 ms | 5.25 ms | 100 | 1.75 ms | 1.75 | 1.75 |
| typical pod | Linkerd's injector | 28.00 ms | 42.00 ms | 100 | 14.00 ms | 14.00 | 14.00 |

| answered by | resident memory |
|---|--:|
| accept-everything | 40.0 MiB |
| this policy, settings | 40.0 MiB |
| this policy, ConfigMaps | 40.0 MiB |
| Linkerd's injector | 40.0 MiB |

20000 mixed requests, 32 at once: 0 failures, resident memory by quarters 80.0 MiB, 100.0 MiB, 70.0 MiB, 110.0 MiB
";
    assert_eq!(table, expected);
    let ratios = mk_figures().ratios();
    assert!(ratios.ends_with("| typical pod | 1.4 | 1.8 | 14.0 | 1.4 | 1.8 | 14.0 |\n"), "{ratios}");
}
