// The browser knows how wide the page is, beside an open sidebar too, and whether it is dark: it says
// when that is not what the page was drawn for.
import { leaving } from "./leaving.js"
import { keepSteps, placeOf } from "./steps.js"

// On a small screen the sidebar lies over the page: who has chosen a page there wants to see it.
const SMALL = matchMedia("(max-width: 768px)")
const uncover = (event) => {
  if (!SMALL.matches || !event.target.closest?.("a[href]")) return
  const button = document.querySelector(drawn.data.close)
  if (button && button.getBoundingClientRect().right > 0) button.click()
}

// Streamlit gives every component the colours of the theme as variables.
const isDark = () => {
  const probe = document.createElement("i")
  probe.style.backgroundColor = "var(--st-background-color, white)"
  place.append(probe)
  const ground = getComputedStyle(probe).backgroundColor
  probe.remove()
  return Math.max(...ground.match(/[0-9.]+/g).slice(0, 3).map(Number)) < 128
}
let drawn = null  // what the page was drawn for, and how to say that it is another now
// To say something on the way to another page would run the one that was left in its place. Clicks
// and the Back button change the address first: it is that of the page once the new one has run.
const going = () => (
  placeOf(drawn.data.places) !== drawn.data.place || window.dpscoLeft === location.pathname
)

const told = {}  // once: a page may be slow to follow, or know no theme
const tell = (name, value) => {
  if (value === drawn.data[name]) delete told[name]
  else if (value !== told[name]) drawn.setStateValue(name, (told[name] = value))
}

const look = () => {
  const page = document.querySelector(".st-key-page")
  if (!page || going()) return
  // A table of text that is wider than its place scrolls: by keys, too.
  page.querySelectorAll("table:not([class])").forEach((table) => {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
    else table.removeAttribute("tabindex")
  })
  const { width, right } = page.getBoundingClientRect()
  if (width) {
    const whole = width + 2 * (innerWidth - right)  // with the margins, which are the same
    const fits = Object.entries(drawn.data.widths).find(([, most]) => whole <= most)
    tell("size", fits ? fits[0] : "large")
  }
  tell("low", innerHeight < drawn.data.lowest)
  tell("dark", isDark())
}

let place = null  // where Streamlit has mounted this
let stop = () => {}
const start = () => {
  document.addEventListener("click", uncover)
  const watch = new ResizeObserver(look)
  watch.observe(document.querySelector(".st-key-page"))
  const again = setInterval(look, 500)
  return () => {
    document.removeEventListener("click", uncover)
    watch.disconnect()
    clearInterval(again)
  }
}

// Called at every run of the page; what it returns is called when the place goes.
export default function ({ data, setStateValue, parentElement }) {
  leaving()
  keepSteps(data)
  drawn = { data, setStateValue }
  if (place !== parentElement) {
    stop()
    place = parentElement
    stop = start()
  }
  return () => {
    if (place !== parentElement) return
    stop()
    place = null
  }
}
