"use strict";
// Looks at a page in frames of several widths and writes what is wrong with it into the document.

// What is wrong with a page that has to fit into a width and to draw some panels.
function faults(page, width, panels) {
  const found = [];
  const drawn = page.documentElement.scrollWidth;
  if (drawn > width) found.push(`the page is ${drawn} px wide`);
  for (const element of page.querySelectorAll("main, main *")) {
    // What is in a box that scrolls may be wider than the box; what is in a drawing is looked at below.
    const box = element.closest(".scroll");
    if ((box && box !== element) || element.ownerSVGElement) continue;
    const { left, right } = element.getBoundingClientRect();
    if (left < -0.5 || right > width + 0.5) found.push(`<${element.localName} class="${element.className}"> ends at ${right} px`);
  }
  for (const cell of page.querySelectorAll(".number")) {
    if (cell.scrollWidth > cell.clientWidth) found.push(`'${cell.textContent}' leaves its cell`);
  }
  for (const drawing of page.querySelectorAll("svg")) found.push(...texts(drawing));
  for (const id of panels) {
    const section = page.getElementById(id);
    const charts = section ? [...section.querySelectorAll("svg")] : [];
    if (!section || section.hidden || !charts.length) found.push(`'${id}' is not drawn`);
    if (charts.some((chart) => chart.outerHTML.includes("NaN"))) found.push(`'${id}' has numbers that are none`);
  }
  return found.map((fault) => `at ${width} px: ${fault}`);
}

// Texts of a drawing that are cut off or lie on each other; boxes of neighbouring lines may touch.
function texts(drawing) {
  const found = [];
  const edge = drawing.getBoundingClientRect();
  const all = [...drawing.querySelectorAll("text")].map((text) => ({ said: text.textContent, box: text.getBoundingClientRect() }));
  all.forEach(({ said, box }, i) => {
    if (box.left < edge.left - 1 || box.right > edge.right + 1) found.push(`'${said}' is cut off`);
    for (const other of all.slice(0, i)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (across > 1 && down > 4) found.push(`'${said}' lies on '${other.said}'`);
    }
  });
  return found;
}

addEventListener("load", () => {
  const list = document.getElementById("faults");
  const panels = list.dataset.panels.split(" ").filter(Boolean);
  const found = [...document.querySelectorAll("iframe")].flatMap((frame) => faults(frame.contentDocument, Number(frame.width), panels));
  list.textContent = found.length ? found.join("\n") : "none";
});
