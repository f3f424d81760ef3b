// The browser knows how wide the page is, beside an open sidebar too, and whether it is dark: it says
// when that is not what the page was drawn for.
import { leaving } from "./leaving.js"

// On a small screen the sidebar lies over the page: who has chosen a page there wants to see it.
const SMALL = matchMedia("(max-width: 768px)")
const uncover = (event) => {
  if (!SMALL.matches || !event.target.closest?.("[data-testid=stSidebarNavLink]")) return
  document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
}

const isDark = (app) => {
  const ground = getComputedStyle(app).backgroundColor
  return Math.max(...ground.match(/[0-9.]+/g).slice(0, 3).map(Number)) < 128
}
let toldDark = null  // a page that knows no theme is told once

export default function ({ data, setStateValue }) {
  leaving()
  document.addEventListener("click", uncover)
  const page = document.querySelector("[data-testid=stMain]")
  const tell = () => {
    const fits = Object.entries(data.widths).find(([, widest]) => page.clientWidth <= widest)
    const size = fits ? fits[0] : "large"
    if (page.clientWidth && size !== data.size) setStateValue("size", size)
  }
  const watch = new ResizeObserver(tell)
  watch.observe(page)
  // A table of text that is wider than its place scrolls: by keys, too.
  const reach = () => page.querySelectorAll("[data-testid=stMarkdown] table").forEach((table) => {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
    else table.removeAttribute("tabindex")
  })
  const look = () => {
    reach()
    const app = document.querySelector("[data-testid=stApp]")
    const dark = app ? isDark(app) : data.dark
    if (dark === data.dark) toldDark = null
    else if (dark !== toldDark) setStateValue("dark", (toldDark = dark))
  }
  const again = setInterval(look, 500)
  return () => {
    document.removeEventListener("click", uncover)
    watch.disconnect()
    clearInterval(again)
  }
}
