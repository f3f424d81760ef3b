// The story: its steps and numbers are in the page, so it needs no engine.

import start from "./touch/scroll.js"

const { data, colours } = JSON.parse(document.getElementById("known").textContent)
const dark = matchMedia("(prefers-color-scheme: dark)")
const root = document.getElementById("story").shadowRoot
const draw = () =>
  start({ data: { ...data, colours: colours[dark.matches ? "dark" : "light"] }, parentElement: root })

document.fonts.load("16px 'Source Sans'").finally(draw) // a canvas keeps the font it is drawn with
dark.addEventListener("change", draw)
// The settings of the visit go with whoever comes and goes.
for (const link of document.querySelectorAll("#views a")) {
  if (location.search) link.search = location.search
}
