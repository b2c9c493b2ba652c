package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// layout is how a result is laid out on its line: in the words of JSON they are the same.
type layout int

const (
	compact layout = iota // no blanks, the outcome first, the object as the patch leaves it
	spaced                // blanks after commas and colons, every key in the order of the alphabet, every character as it is
)

// layoutOf tells the layout of a file by its beginning.
func layoutOf(file []byte) layout {
	if bytes.HasPrefix(file, []byte(`{"name": `)) {
		return spaced
	}
	return compact
}

// write gives the line of a result, with the new line at its end.
func (it *result) write(as layout) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(it); err != nil || as == compact {
		return line.Bytes(), err
	}
	decoder := json.NewDecoder(&line)
	decoder.UseNumber()
	var read any
	if err := decoder.Decode(&read); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeSpaced(&out, read); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func writeSpaced(out *bytes.Buffer, value any) error {
	switch value := value.(type) {
	case map[string]any:
		out.WriteByte('{')
		for number, key := range slices.Sorted(maps.Keys(value)) {
			comma(out, number)
			writeText(out, key)
			out.WriteString(": ")
			if err := writeSpaced(out, value[key]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case []any:
		out.WriteByte('[')
		for number, item := range value {
			comma(out, number)
			if err := writeSpaced(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case string:
		writeText(out, value)
	case json.Number:
		out.WriteString(value.String())
	case bool:
		fmt.Fprint(out, value)
	case nil:
		out.WriteString("null")
	default:
		return fmt.Errorf("no JSON: %T", value)
	}
	return nil
}

func comma(out *bytes.Buffer, number int) {
	if number > 0 {
		out.WriteString(", ")
	}
}

// writeText escapes what JSON demands and nothing else.
func writeText(out *bytes.Buffer, text string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	out.WriteByte('"')
	for _, char := range text {
		if escaped, found := short[char]; found {
			out.WriteString(escaped)
		} else if char < ' ' {
			fmt.Fprintf(out, `\u%04x`, char)
		} else {
			out.WriteRune(char)
		}
	}
	out.WriteByte('"')
}
