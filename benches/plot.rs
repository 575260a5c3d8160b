//! Draws plots of lines with two logarithmic axes, as SVG. The colours have medium brightness and there is no background, so that a
//! plot is readable on white and on black.

use std::fmt::Write;

pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

pub struct Plot<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub lines: &'a [Line],
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 150.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = HEIGHT - 52.0;
const COLOURS: [&str; 6] = ["#2f81f7", "#d9730d", "#2da44e", "#a855f7", "#d6336c", "#0d9488"];
const TEXT: &str = "#7d8590";
/// The minimum distance between the baselines of two names.
const NAMES_APART: f64 = 15.0;

impl Plot<'_> {
    pub fn to_svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, 0f64), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (x_low, x_high) = range(&mut points().map(|point| point.0));
        let (y_low, y_high) = range(&mut points().map(|point| point.1));
        let (y_low, y_high) = (decade(y_low).floor(), decade(y_high).ceil());
        let x_at = |x: f64| LEFT + (RIGHT - LEFT) * (x / x_low).log2() / (x_high / x_low).log2();
        let y_at = |y: f64| BOTTOM - (BOTTOM - TOP) * (decade(y) - y_low) / (y_high - y_low);

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\" fill=\"{TEXT}\">\n<title>{}</title>\n",
            self.title
        );
        let mut text = |x: f64, y: f64, attributes: &str, text: &str| {
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>").unwrap();
        };
        text(LEFT, 20.0, "font-size=\"15\" font-weight=\"bold\"", self.title);
        text((LEFT + RIGHT) / 2.0, HEIGHT - 12.0, "text-anchor=\"middle\"", self.x);
        text(LEFT, 40.0, "", self.y);
        for power in y_low as i32..=y_high as i32 {
            text(LEFT - 8.0, y_at(10f64.powi(power)) + 4.0, "text-anchor=\"end\"", &format!("{}", 10f64.powi(power)));
        }
        let mut x = x_low;
        while x <= x_high {
            text(x_at(x), BOTTOM + 18.0, "text-anchor=\"middle\"", &format!("{x}"));
            x *= 2.0;
        }
        for power in y_low as i32..=y_high as i32 {
            let y = y_at(10f64.powi(power));
            let line = format!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{TEXT}\" stroke-opacity=\"0.3\"/>");
            writeln!(svg, "{line}").unwrap();
        }
        for (index, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let path: Vec<String> =
                line.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", x_at(x), y_at(y))).collect();
            let path = path.join(" ");
            writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>")
                .unwrap();
            for &(x, y) in &line.points {
                writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>", x_at(x), y_at(y))
                    .unwrap();
            }
        }
        // Names are written at the ends of their lines, from top to bottom and not overlapping.
        let mut names: Vec<(f64, usize)> =
            self.lines.iter().enumerate().map(|(i, line)| (y_at(line.end()), i)).collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut free = TOP;
        for (y, index) in names {
            let y = y.max(free);
            free = y + NAMES_APART;
            let (colour, name) = (COLOURS[index % COLOURS.len()], &self.lines[index].name);
            writeln!(svg, "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>", RIGHT + 8.0, y + 4.0)
                .unwrap();
        }
        svg + "</svg>\n"
    }
}

impl Line {
    fn end(&self) -> f64 {
        self.points.last().expect("a line has points").1
    }
}

fn decade(value: f64) -> f64 {
    value.log10()
}
