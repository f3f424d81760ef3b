// A move of a slider draws the figure of its place: what all of them show is in this file.
const at = (id) => document.getElementById(id)
const inputs = [...document.querySelectorAll("[data-field]")]
const narrow = matchMedia("(max-width: NARROW)")
const dark = matchMedia("(prefers-color-scheme: dark)")
const CONFIG = { responsive: true, displayModeBar: false }
let data

const draw = () => {
  const place = data.lengths.reduce((sum, length, i) => sum * length + Number(inputs[i].value), 0)
  const screen = data.screens[place]
  const scheme = dark.matches ? "dark" : "light"
  const seen = [...(narrow.matches ? ["first", "second", "table"] : ["wide"]), "head"]
  if (document.querySelector("details").open) seen.push("bounds")
  for (const id of seen) {
    const texts = (screen[`${id} ${scheme}`] ?? screen[id] ?? []).map((number) => data.texts[number])
    at(id).toggleAttribute("hidden", !texts.length)
    if (!at(id).matches(".figure")) at(id).innerHTML = texts.join("")
    else if (texts.length) {
      const [layout, ...lines] = texts.map((text) => JSON.parse(text))
      Plotly.react(at(id), lines, { ...layout, autosize: true }, CONFIG)
    }
  }
  for (const input of inputs) {
    const text = JSON.parse(input.dataset.texts)[input.value]
    input.setAttribute("aria-valuetext", text)
    input.parentElement.querySelector("output").textContent = text
  }
  const answer = at("head").querySelector("h2").textContent
  document.querySelectorAll(".figure").forEach((figure) => figure.setAttribute("aria-label", answer))
}

const unpacked = (id) => {
  const bytes = Uint8Array.from(atob(at(id).textContent), (sign) => sign.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))
  return new Response(stream).text()
}
const start = async () => {
  const plotly = document.createElement("script")
  plotly.text = await unpacked("plotly")
  document.head.append(plotly)
  data = JSON.parse(await unpacked("packed"))
  for (const query of [narrow, dark]) query.addEventListener("change", draw)
  document.querySelector("details").addEventListener("toggle", draw)
  inputs.forEach((input) => input.addEventListener("input", draw))
  draw()
  document.body.dataset.ready = ""
}
start()
