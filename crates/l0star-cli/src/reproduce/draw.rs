//! Figures as SVG and PNG files. The same code draws both, with a font embedded in the program, so that no system
//! library is needed.

use std::io::Write;
use std::path::Path;
use std::sync::Once;

use l0star_data::write_atomically;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::{Figure, PSSR, Panel, Series};
use super::results::Mark;
use crate::failure::Failure;

/// Width and height of a panel in pixels.
const PANEL: (u32, u32) = (400, 290);
/// Height of a line of the legend in pixels.
const LEGEND_LINE: u32 = 22;
/// Scale of a PNG file compared with the SVG file.
const PNG_SCALE: u32 = 2;

/// Offset of each curve from the next, as a share of the axis.
const BESIDE: f64 = 0.006;

/// Colours that colour-blind readers can tell apart (Okabe and Ito), in the order of a figure's curves.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(100, 100, 100),
];

type Canvas<'a, B> = DrawingArea<B, Shift>;
type Drawn = Result<(), String>;

/// Writes `NAME.svg` and `NAME.png`.
pub fn save(figure: &Figure, folder: &Path) -> Result<(), Failure> {
    register_font();
    let failed = |reason: String| {
        Failure::BadData(format!("cannot draw figure '{}': {reason}", figure.name))
    };
    let layout = Layout::new(figure);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, layout.size(1)).into_drawing_area();
        draw(figure, &layout, &area, 1).map_err(failed)?;
        area.present().map_err(|error| failed(error.to_string()))?;
    }
    write_atomically(folder.join(format!("{}.svg", figure.name)), |out| {
        out.write_all(svg.as_bytes())
    })?;

    let (width, height) = layout.size(PNG_SCALE);
    let mut pixels = vec![255; (3 * width * height) as usize];
    {
        let backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        let area = backend.into_drawing_area();
        draw(figure, &layout, &area, PNG_SCALE).map_err(failed)?;
        area.present().map_err(|error| failed(error.to_string()))?;
    }
    write_atomically(folder.join(format!("{}.png", figure.name)), |out| {
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        Ok(writer.finish()?)
    })?;
    Ok(())
}

fn register_font() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let bytes = include_bytes!("font/Roboto-Regular.ttf");
        let registered =
            plotters::style::register_font("sans-serif", FontStyle::Normal, bytes.as_slice());
        debug_assert!(registered.is_ok());
    });
}

/// The legend of a figure, and the size of the whole.
struct Layout<'a> {
    /// The names of all curves, each once, in the order of their first panel.
    names: Vec<&'a str>,
    lines: u32,
    columns: u32,
    rows: u32,
}

impl<'a> Layout<'a> {
    fn new(figure: &'a Figure) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let columns = figure.columns.min(figure.panels.len()).max(1);
        let rows = figure.panels.len().div_ceil(columns);
        Self {
            lines: names.len().div_ceil(Self::a_line(columns)) as u32,
            names,
            columns: columns as u32,
            rows: rows as u32,
        }
    }

    /// Number of names on a line of the legend.
    fn a_line(columns: usize) -> usize {
        2 * columns
    }

    fn size(&self, scale: u32) -> (u32, u32) {
        (
            scale * self.columns * PANEL.0,
            scale * (self.rows * PANEL.1 + self.lines * LEGEND_LINE + 10),
        )
    }

    fn colour(&self, name: &str) -> RGBColor {
        let place = self.names.iter().position(|other| *other == name);
        COLOURS[place.unwrap_or(0) % COLOURS.len()]
    }
}

fn draw<B: DrawingBackend>(
    figure: &Figure,
    layout: &Layout,
    area: &Canvas<B>,
    scale: u32,
) -> Drawn {
    area.fill(&WHITE).map_err(text)?;
    let (legend, panels) = area.split_vertically(scale * (layout.lines * LEGEND_LINE + 10));
    draw_legend(layout, &legend, scale)?;
    let cells = panels.split_evenly((layout.rows as usize, layout.columns as usize));
    for (panel, cell) in figure.panels.iter().zip(&cells) {
        draw_panel(panel, layout, cell, scale)?;
    }
    Ok(())
}

fn draw_legend<B: DrawingBackend>(layout: &Layout, area: &Canvas<B>, scale: u32) -> Drawn {
    let unit = scale as i32;
    let (width, _) = area.dim_in_pixel();
    let a_line = Layout::a_line(layout.columns as usize);
    let step = (width as usize / a_line) as i32;
    for (place, name) in layout.names.iter().enumerate() {
        let x = 24 * unit + (place % a_line) as i32 * step;
        let y = 16 * unit + (place / a_line) as i32 * LEGEND_LINE as i32 * unit;
        let colour = layout.colour(name);
        let line = [(x, y), (x + 26 * unit, y)];
        area.draw(&PathElement::new(line, colour.stroke_width(2 * scale)))
            .map_err(text)?;
        area.draw(&Circle::new((x + 13 * unit, y), 3 * unit, colour.filled()))
            .map_err(text)?;
        let style = font(13, scale).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(*name, (x + 32 * unit, y), style))
            .map_err(text)?;
    }
    Ok(())
}

fn font(size: u32, scale: u32) -> TextStyle<'static> {
    ("sans-serif", f64::from(size * scale)).into_font().into()
}

/// An axis: its range and its labelled ticks.
#[derive(Clone)]
struct Range {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
}

/// A coordinate with labels at the given ticks.
impl Ranged for Range {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        let share = (value - self.low) / (self.high - self.low);
        start + (share * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

fn draw_panel<B: DrawingBackend>(
    panel: &Panel,
    layout: &Layout,
    area: &Canvas<B>,
    scale: u32,
) -> Drawn {
    let marks: Vec<&Mark> = panel
        .series
        .iter()
        .flat_map(|series| &series.marks)
        .collect();
    let x = horizontal(&marks);
    let y = if panel.y.log {
        decades(&marks)
    } else if panel.y == PSSR {
        up_to(100.0)
    } else {
        linear(&marks)
    };
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, font(15, scale))
        .margin(8 * scale)
        .x_label_area_size(34 * scale)
        .y_label_area_size(58 * scale)
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(text)?;
    let log = panel.y.log;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(225, 225, 225).stroke_width(scale))
        .axis_style(BLACK.stroke_width(scale))
        .label_style(font(12, scale))
        .axis_desc_style(font(13, scale))
        .x_desc(panel.x)
        .y_desc(panel.y.label)
        .x_label_formatter(&|value| plain(*value))
        .y_label_formatter(&|value| if log { power(*value) } else { plain(*value) })
        .draw()
        .map_err(text)?;
    // The first curves are drawn on top. Each is slightly offset, so that none hides the bars of another.
    let middle = 0.5 * (panel.series.len() as f64 - 1.0);
    for (place, series) in panel.series.iter().enumerate().rev() {
        let colour = layout.colour(&series.name);
        let beside = BESIDE * (x.high - x.low) * (place as f64 - middle);
        let curve = curve(series, log, beside, &y);
        let line: Vec<(f64, f64)> = curve.iter().map(|place| (place.x, place.y)).collect();
        chart
            .plotting_area()
            .draw(&PathElement::new(line, colour.stroke_width(2 * scale)))
            .map_err(text)?;
        let cap = 0.008 * (x.high - x.low);
        for place in &curve {
            let bar = |points: Vec<(f64, f64)>| {
                let style = colour.stroke_width(scale);
                let area = chart.plotting_area();
                area.draw(&PathElement::new(points, style)).map_err(text)
            };
            if place.low < place.high {
                bar(vec![(place.x, place.low), (place.x, place.high)])?;
                let ends = [(place.low, place.ends_below), (place.high, true)];
                for (end, _) in ends.into_iter().filter(|(_, ends)| *ends) {
                    bar(vec![(place.x - cap, end), (place.x + cap, end)])?;
                }
            }
            let area = chart.plotting_area();
            let at = (place.x, place.y);
            if place.cut_off {
                let size = 6 * scale;
                area.draw(&TriangleMarker::new(at, size, WHITE.filled()))
                    .map_err(text)?;
                area.draw(&TriangleMarker::new(at, size - scale, colour.filled()))
                    .map_err(text)?;
            } else {
                area.draw(&Circle::new(at, 3 * scale, colour.filled()))
                    .map_err(text)?;
            }
        }
    }
    Ok(())
}

/// A mark in the coordinates of the axes.
struct PlotArea {
    x: f64,
    y: f64,
    low: f64,
    high: f64,
    /// Whether the bar ends at `low`, rather than at the edge of a logarithmic axis, which has no zero.
    ends_below: bool,
    cut_off: bool,
}

fn curve(series: &Series, log: bool, beside: f64, y: &Range) -> Vec<PlotArea> {
    // On a logarithmic axis, a bar that goes down to zero or below ends at the edge of the axis.
    let on_axis = |value: f64| match log {
        true if value > 0.0 => value.log10().clamp(y.low, y.high),
        true => y.low,
        false => value.clamp(y.low, y.high),
    };
    let drawn = series.marks.iter().filter(|mark| mark.mean.is_finite());
    let place = |mark: &Mark| PlotArea {
        x: mark.x + beside,
        y: on_axis(mark.mean),
        low: on_axis(mark.mean - mark.deviation),
        high: on_axis(mark.mean + mark.deviation),
        ends_below: !log || mark.mean > mark.deviation,
        cut_off: mark.cut_off > 0,
    };
    drawn.map(place).collect()
}

/// Returns a horizontal axis with ticks where there are marks.
fn horizontal(marks: &[&Mark]) -> Range {
    let mut ticks: Vec<f64> = marks.iter().map(|mark| mark.x).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let (low, high) = match (ticks.first(), ticks.last()) {
        (Some(low), Some(high)) if low < high => (*low, *high),
        (Some(only), _) => (only - 0.5, only + 0.5),
        _ => (0.0, 1.0),
    };
    let margin = 0.05 * (high - low);
    Range {
        low: low - margin,
        high: high + margin,
        ticks,
    }
}

/// Returns a logarithmic axis of whole decades around the bars.
fn decades(marks: &[&Mark]) -> Range {
    let positive = |value: &f64| *value > 0.0 && value.is_finite();
    let ends = marks.iter().flat_map(|mark| {
        let lower = mark.mean - mark.deviation;
        // A bar that ends near zero would stretch the axis without limit.
        let lower = lower.max(0.2 * mark.mean);
        [lower, mark.mean + mark.deviation]
    });
    let ends: Vec<f64> = ends.filter(positive).map(f64::log10).collect();
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min).floor();
    let high = ends
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max)
        .ceil();
    let (low, high) = if low < high {
        (low, high)
    } else if low.is_finite() {
        (low - 1.0, low + 1.0)
    } else {
        (0.0, 1.0)
    };
    let step = ((high - low) / 6.0).ceil().max(1.0);
    let ticks = (0..=(high - low) as usize)
        .map(|place| low + place as f64 * step)
        .filter(|tick| *tick <= high);
    Range {
        low,
        high,
        ticks: ticks.collect(),
    }
}

/// Returns an axis from zero, in steps of 1, 2 or 5 times a power of ten.
fn linear(marks: &[&Mark]) -> Range {
    let ends = marks.iter().map(|mark| mark.mean + mark.deviation);
    let high = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    up_to(if high > 0.0 { high } else { 1.0 })
}

fn up_to(high: f64) -> Range {
    let rough = high / 5.0;
    let unit = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * unit);
    // The last step is always large enough, up to rounding.
    let step = steps
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(steps[3]);
    let count = (high / step - 1e-9).ceil().max(1.0);
    Range {
        low: -0.03 * count * step,
        high: 1.03 * count * step,
        ticks: (0..=count as usize)
            .map(|place| place as f64 * step)
            .collect(),
    }
}

/// Formats a number plainly: `2e-6`, `0.5`, `300`.
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = if (1e-3..1e5).contains(&value.abs()) {
        format!("{value:.4}")
    } else {
        format!("{value:.2e}")
    };
    let (number, exponent) = match digits.split_once('e') {
        Some((number, exponent)) => (number, format!("e{exponent}")),
        None => (digits.as_str(), String::new()),
    };
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{exponent}")
}

/// Formats a power of ten: `10⁻³` for -3.
fn power(exponent: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = format!("{:.0}", exponent)
        .chars()
        .map(|sign| match sign.to_digit(10) {
            Some(digit) => DIGITS[digit as usize],
            None => '⁻',
        })
        .collect::<String>();
    format!("10{raised}")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(mean: f64, deviation: f64) -> Mark {
        Mark {
            x: mean,
            mean,
            deviation,
            cut_off: 0,
        }
    }

    #[test]
    fn axes_hold_all_marks_with_few_labels() {
        for means in [[1e-5, 3.0], [7.0, 7.0], [1.0, 1e41], [0.0, 0.0]] {
            let marks = means.map(|mean| mark(mean, 0.5 * mean));
            let marks: Vec<&Mark> = marks.iter().collect();
            for (range, top) in [
                (decades(&marks), means[1].log10()),
                (linear(&marks), 1.5 * means[1]),
                (horizontal(&marks), means[1]),
            ] {
                assert!(range.low < range.high && range.high.is_finite());
                assert!(range.high >= top, "{means:?}: {} < {top}", range.high);
                assert!((1..=8).contains(&range.ticks.len()), "{:?}", range.ticks);
                assert!(
                    range
                        .ticks
                        .iter()
                        .all(|tick| (range.low..=range.high).contains(tick))
                );
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        let cases = [(2e-6, "2e-6"), (0.005, "0.005"), (300.0, "300"), (0.0, "0")];
        for (value, text) in cases {
            assert_eq!(plain(value), text);
        }
        assert_eq!(power(-12.0), "10⁻¹²");
    }
}
