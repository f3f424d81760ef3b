// A move of a slider puts the drawing of its place into the page: all of them are in this file.
const at = (id) => document.getElementById(id)
const inputs = [...document.querySelectorAll("[data-field]")]
const narrow = matchMedia("(max-width: NARROW)")
let data

const draw = () => {
  const place = data.lengths.reduce((sum, length, i) => sum * length + Number(inputs[i].value), 0)
  const screen = data.screens[place]
  const seen = [...(narrow.matches ? ["first", "second", "table"] : ["wide"]), "head"]
  if (document.querySelector("details").open) seen.push("bounds")
  for (const id of seen) {
    const html = (screen[id] ?? []).map((number) => data.texts[number]).join("")
    at(id).toggleAttribute("hidden", !html)
    // Two drawings in one page: what one refers to is its own.
    at(id).innerHTML = html.replaceAll(/(id='|#)c(x\d*)/g, `$1${id}-$2`)
  }
  for (const input of inputs) {
    const text = JSON.parse(input.dataset.texts)[input.value]
    input.setAttribute("aria-valuetext", text)
    input.parentElement.querySelector("output").textContent = text
  }
  const said = at("head").querySelector("h2").textContent
  document.querySelectorAll("svg").forEach((svg) => svg.setAttribute("aria-label", said))
}

const start = async () => {
  const bytes = Uint8Array.from(atob(at("packed").textContent), (sign) => sign.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  data = JSON.parse(await new Response(stream).text())
  narrow.addEventListener("change", draw)
  document.querySelector("details").addEventListener("toggle", draw)
  inputs.forEach((input) => input.addEventListener("input", draw))
  draw()
  document.body.dataset.ready = ""
}
start()
