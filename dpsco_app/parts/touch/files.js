// Plotly's own button draws the picture, in this browser: it reads the figure's layout at the click,
// which is that of the picture for this moment: the page's colour, its title, fonts that every
// machine has.

const FAMILY = "Arial, Helvetica, sans-serif"
const TITLE = 15  // the height of the title's type
const TITLE_LINE = 20  // what a line of a title adds to the height of a figure without one
const LINE = 16  // what a line at the foot adds
const EDGE = 10  // pixels between what is added and the picture's edges
const LETTERS = "The quick brown fox jumps over the lazy dog, 0123456789"

const shown = (place) => {
  const kinds = ["wide", "compact", "space"]
  const where = kinds.map((kind) => `.st-key-${place}${kind} .js-plotly-plot`).join()
  const here = (e) => e.getClientRects().length > 0 && e._fullLayout && e._fullLayout._modeBar
  return [...document.querySelectorAll(where)].filter(here).pop()
}

const widthOf = (text, font) => {
  const pen = document.createElement("canvas").getContext("2d")
  pen.font = font
  return pen.measureText(text).width
}

// By how much type must shrink so that text in the picture's font is as wide as in the page's: the
// figure was laid out for that.
const shrunk = (family) =>
  Math.min(1, widthOf(LETTERS, `100px ${family}`) / widthOf(LETTERS, `100px ${FAMILY}`))

const plainFonts = (value, scale) => {
  for (const [name, inner] of Object.entries(value)) {
    if (name === "family") value[name] = FAMILY
    else if (inner && typeof inner === "object") {
      if (/font$/.test(name) && inner.size) inner.size *= scale
      plainFonts(inner, scale)
    }
  }
}

const wrapped = (text, width, font) => {
  const lines = [""]
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]}${word} `
    const fits = widthOf(longer.trimEnd(), font) <= width
    if (fits || !lines[lines.length - 1]) lines[lines.length - 1] = longer
    else lines.push(`${word} `)
  }
  return lines
}

const pictured = (gd, { title, setting }, background) => {
  const layout = structuredClone(gd.layout)
  plainFonts(layout, shrunk(gd._fullLayout.font.family))
  layout.font = { ...layout.font, family: FAMILY }
  layout.paper_bgcolor = background
  const given = layout.title && layout.title.text
  if (!given || given.replace(/<[^>]*>/g, "") === "") {
    const lines = wrapped(title, gd.clientWidth - 2 * EDGE, `bold ${TITLE}px ${FAMILY}`)
    const more = TITLE_LINE * lines.length + EDGE
    const { l, t } = gd._fullLayout._size
    layout.margin = { ...layout.margin, t: t + more }
    layout.height = (layout.height || gd.clientHeight) + more
    // Above all that the figure has, whatever stands above its panels.
    layout.annotations = [...(layout.annotations || []), {
      text: `<b>${lines.join("<br>")}</b>`, name: "title", xref: "paper", yref: "paper", x: 0, y: 1,
      xanchor: "left", yanchor: "bottom", align: "left", xshift: EDGE - l, yshift: t,
      showarrow: false, font: { size: TITLE, family: FAMILY },
    }]
  }
  if (setting) footed(layout, gd, setting)
  return layout
}

// The setting stands below all that the figure has, in lines of their own.
const footed = (layout, gd, setting) => {
  const { l, b } = gd._fullLayout._size
  const lines = wrapped(setting, gd.clientWidth - 2 * EDGE, `11px ${FAMILY}`)
  const more = LINE * lines.length + 8
  layout.margin = { ...layout.margin, b: b + more }
  layout.height = (layout.height || gd.clientHeight) + more
  layout.annotations = [...(layout.annotations || []), {
    text: lines.join("<br>"), xref: "paper", yref: "paper", x: 0, y: 0,
    xanchor: "left", yanchor: "top", align: "left",
    xshift: EDGE - l, yshift: -b, showarrow: false, font: { size: 11, family: FAMILY },
  }]
}

// Plotly saves by a click on a link of its own, which would close what the buttons are in.
const unheard = (event) => {
  if (!event.isTrusted && event.target.download) event.stopPropagation()
}

const save = async (gd, format, data, background) => {
  const camera = gd._fullLayout._modeBar.buttons.flat().find((b) => b.name === "toImage")
  const { layout, _context } = gd
  const { toImageButtonOptions } = _context  // those of the camera, which saves what it says
  _context.displayNotifier = false  // its note outlives the picture, and is not for every reader
  _context.toImageButtonOptions = { format, filename: data.file, scale: 2 }
  window.addEventListener("click", unheard, true)
  try {
    gd.layout = pictured(gd, data, background)
    camera.click(gd)
  } finally {
    gd.layout = layout
    _context.toImageButtonOptions = toImageButtonOptions
  }
  while (gd._snapshotInProgress) await new Promise((done) => setTimeout(done, 50))
  await new Promise((done) => setTimeout(done, 50))
  window.removeEventListener("click", unheard, true)
}

export default function ({ data, parentElement }) {
  const said = parentElement.querySelector("[role=status]")
  const host = parentElement.host || parentElement
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = async () => {
      const gd = shown(data.place)
      if (!gd || gd._snapshotInProgress) {
        said.textContent = "The figure is not ready: try again."
        return
      }
      said.textContent = "Drawing the picture"
      button.setAttribute("aria-busy", "true")
      const background = getComputedStyle(host).getPropertyValue("--st-background-color").trim()
      await save(gd, button.dataset.format, data, background)
      button.removeAttribute("aria-busy")
      said.textContent = `Saved ${data.file}.${button.dataset.format}`
    }
  }
}
