//! Describes how features were made from the columns of files, in the fields of a model file.

use l0star_data::factors;
use l0star_record::fields::Product;
use l0star_record::moments::About;
use serde_json::json;

/// Returns the fields of a model file that say how features are made from columns, as JSON.
pub fn parts(about: &About, names: &[String]) -> String {
    let product = |name: &String| {
        let factors = factors(&about.factors, name)?;
        Some(Product {
            name: name.clone(),
            factors: factors.map(String::clone),
        })
    };
    let products: Vec<Product> = if about.factors.is_empty() {
        Vec::new()
    } else {
        names.iter().filter_map(product).collect()
    };
    let reading = if about.reading.is_empty() {
        json!({})
    } else {
        json!(about.reading)
    };
    json!({
        "products": products,
        "indicators": about.indicators,
        "imputed": about.imputed,
        "reading": reading,
    })
    .to_string()
}

/// Returns the text columns with the positions of the features that stand for their levels.
pub fn texts(about: &About, names: &[String]) -> Vec<(String, Vec<usize>)> {
    let place = |name: &String| names.iter().position(|own| own == name);
    let groups = about.texts_among(names).into_iter();
    let places = groups.map(|group| {
        let columns = group.columns.iter().filter_map(place);
        (group.name, columns.collect())
    });
    places.collect()
}
