// The browser knows how wide the page is, beside an open sidebar too, and says when that is not what
// the page was drawn for.
import { leaving } from "./leaving.js"

export default function ({ data, setStateValue }) {
  leaving()
  const page = document.querySelector("[data-testid=stMain]")
  const tell = () => {
    const kind = page.clientWidth <= data.narrow ? "compact" : "wide"
    if (page.clientWidth && kind !== data.kind) setStateValue("kind", kind)
  }
  const watch = new ResizeObserver(tell)
  watch.observe(page)
  // A table of text that is wider than its place scrolls: by keys, too.
  const reach = () => page.querySelectorAll("[data-testid=stMarkdown] table").forEach((table) => {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0
    else table.removeAttribute("tabindex")
  })
  const again = setInterval(reach, 500)
  return () => {
    watch.disconnect()
    clearInterval(again)
  }
}
