//! Which objects the documents of an input hold.

use serde_json::{Value as Json, json};
use serde_norway::Value as Yaml;

use super::{Document, Input, PreviewError, split};

/// One document and the objects in it.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The document as text.
    pub document: Document,
    /// The document as a tree.
    pub tree: Yaml,
    /// The objects: none, one, the items of a List, or the admission request of a review.
    pub items: Vec<Item>,
    /// How the objects lie in the document.
    pub shape: Shape,
}

/// How the objects of a document lie in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// The document is one object, or something else.
    Object,
    /// The document is a list of objects.
    List,
    /// The document is an admission request or review; its object is what is shown.
    Request,
}

/// One object of a document.
#[derive(Debug, Clone)]
pub struct Item {
    /// The object's tree, as it was read.
    pub tree: Yaml,
    /// The object, or the whole admission request.
    pub object: Json,
}

/// Reads the documents of an input.
///
/// # Errors
/// A document is not YAML, or not what JSON can say.
pub fn read(input: &Input) -> Result<Vec<Manifest>, PreviewError> {
    split(&input.text)
        .into_iter()
        .map(|document| {
            let tree = document.parse().map_err(|source| PreviewError::Format { name: input.name.clone(), source })?;
            let object = serde_json::to_value(&tree).map_err(|source| PreviewError::NotJson {
                name: input.name.clone(),
                line: document.line,
                source,
            })?;
            let (shape, items) = items(&tree, object);
            Ok(Manifest { document, tree, items, shape })
        })
        .collect()
}

fn items(tree: &Yaml, object: Json) -> (Shape, Vec<Item>) {
    let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
    let tree_at = |key: &str| tree.get(key).cloned().unwrap_or_default();
    if kind == "AdmissionReview"
        && let Some(request) = object.get("request").filter(|request| is_request(request))
    {
        return (Shape::Request, vec![request_item(&tree_at("request"), request.clone())]);
    }
    if is_request(&object) {
        return (Shape::Request, vec![request_item(tree, object)]);
    }
    if let (Some(of), Some(items)) = (kind.strip_suffix("List"), object.get("items").and_then(Json::as_array)) {
        let trees = tree_at("items");
        let trees = trees.as_sequence().cloned().unwrap_or_default();
        let typed = |item: &Json| {
            let mut item = item.clone();
            // The items of a PodList do not say what they are.
            if let Some(fields) = item.as_object_mut()
                && !of.is_empty()
            {
                fields.entry("kind").or_insert_with(|| json!(of));
                fields.entry("apiVersion").or_insert_with(|| object.get("apiVersion").cloned().unwrap_or_default());
            }
            item
        };
        let items = trees.into_iter().zip(items).map(|(tree, item)| Item { tree, object: typed(item) }).collect();
        return (Shape::List, items);
    }
    (Shape::Object, vec![Item { tree: tree.clone(), object }])
}

/// An admission request: its kind is a group, a version and a kind, where that of an object is a word.
fn is_request(value: &Json) -> bool {
    value.get("kind").is_some_and(Json::is_object) && value.get("operation").is_some_and(Json::is_string)
}

/// The item of a request has the request as its object, for it says more than the object, and the object's tree.
fn request_item(tree: &Yaml, request: Json) -> Item {
    Item { tree: tree.get("object").cloned().unwrap_or_default(), object: request }
}

/// Whether an item is an admission request.
#[must_use]
pub fn is_admission_request(object: &Json) -> bool {
    is_request(object)
}
