// A comparison is copied as the text that the server wrote, or as the picture that stands on the page.
(() => {
  const place = document.getElementById("copies");
  const said = document.getElementById("copied");
  const text = document.getElementById("markdown-text");
  const markdown = JSON.parse(document.getElementById("markdown").textContent);
  // Of the dots of a screen, so that a picture is sharp where it is put.
  const SCALE = 2;
  const [HEAD, ROW, AXIS, NAMES, VALUES, PLOT, EDGE] = [58, 44, 24, 230, 270, 420, 16];

  const copyMarkdown = async () => {
    try {
      await navigator.clipboard.writeText(markdown);
      said.textContent = said.dataset.markdown;
    } catch {
      // Without permission, or from another machine without encryption: people copy it themselves.
      text.value = markdown;
      text.hidden = false;
      text.select();
      said.textContent = said.dataset.refused;
    }
  };

  /** A drawing of the page with the colours that it has there: a picture by itself knows no style sheet. */
  const standalone = (drawing, x, y, width, height) => {
    const copy = drawing.cloneNode(true);
    const shapes = [...drawing.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((shape, place) => {
      const style = getComputedStyle(shapes[place]);
      for (const name of ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-size", "text-anchor"]) shape.setAttribute(name, style.getPropertyValue(name));
      // A hatched area takes its pattern from the page; here it is as pale.
      if (style.fill.startsWith("url(")) for (const [name, value] of Object.entries({ fill: style.color, "fill-opacity": 0.15 })) shape.setAttribute(name, value);
    });
    for (const [name, value] of Object.entries({ x, y, width, height })) copy.setAttribute(name, value);
    copy.setAttribute("overflow", "visible");
    return copy;
  };

  const written = (words, x, y, style, size = 14) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (const [name, value] of Object.entries({ x, y, fill: style.color, "font-size": size, "font-family": "sans-serif" })) element.setAttribute(name, value);
    element.textContent = words;
    return element;
  };

  /** All rows of the first plot below each other: name, plot, value. */
  const drawPicture = () => {
    const rows = [...document.querySelectorAll(".opening .range-row")];
    const style = getComputedStyle(document.body);
    const width = NAMES + PLOT + VALUES + 2 * EDGE;
    const height = 2 * EDGE + HEAD + ROW * (rows.length - 1) + AXIS;
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) picture.setAttribute(name, value);
    const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ width, height, fill: style.backgroundColor })) ground.setAttribute(name, value);
    const lines = ["h1", ".movement"].map((name) => document.querySelector(name)?.textContent.trim().replace(/\s+/g, " ") ?? "");
    picture.append(ground, ...lines.map((line, place) => written(line, EDGE, EDGE + 16 + 24 * place, style, place ? 15 : 18)));
    rows.forEach((row, place) => {
      const top = EDGE + HEAD + ROW * place;
      const drawing = row.querySelector("svg");
      picture.append(standalone(drawing, EDGE + NAMES, top, PLOT, drawing.getBoundingClientRect().height));
      const name = row.querySelector(".range-name");
      if (!name) return;
      picture.append(written(name.textContent.trim(), EDGE, top + 18, style));
      picture.append(written(row.querySelector(".range-mean").textContent.trim(), EDGE + NAMES + PLOT + 16, top + 18, style));
    });
    return { source: new XMLSerializer().serializeToString(picture), width, height };
  };

  const makePicture = async () => {
    const { source, width, height } = drawPicture();
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width * SCALE, height * SCALE];
    const context = canvas.getContext("2d");
    context.scale(SCALE, SCALE);
    context.drawImage(image, 0, 0);
    return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
  };

  const copyPicture = async () => {
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": makePicture() })]);
      said.textContent = said.dataset.picture;
    } catch {
      said.textContent = said.dataset.undrawn;
    }
  };

  document.getElementById("copy-markdown").addEventListener("click", copyMarkdown);
  document.getElementById("copy-picture").addEventListener("click", copyPicture);
  place.hidden = false;
})();
