// The page that is left by a click on a link, until another one is clicked. A link to the front page
// has no path of its own.

// Streamlit takes two steps to another page: to its path, and to its parameters, in either order.
// The Back button would stop between them, at a page with the parameters of another one: the second
// step takes the place of the first. Whoever uses the page makes steps of their own.
let step = null  // "clicked" on a link; then the first step, "here" or to "there"
const oneStep = () => {
  const push = history.pushState.bind(history)
  history.pushState = (state, title, url) => {
    const next = new URL(url ?? location.href, location.href)
    const stays = next.pathname === location.pathname
    const isSecond = (step === "here" && !stays) || (step === "there" && stays)
    const first = stays ? "here" : next.search ? null : "there"
    step = step === "clicked" ? first : null
    if (isSecond) history.replaceState(state, title, url)
    else push(state, title, url)
  }
  const use = () => { step = null }
  for (const event of ["pointerdown", "keydown", "popstate"]) window.addEventListener(event, use, true)
}

export const leaving = () => {
  if ("dpscoLeft" in window) return
  window.dpscoLeft = null
  oneStep()
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]")
    const apart = event.ctrlKey || event.metaKey || event.shiftKey || link?.target
    if (!link || apart || link.download) return
    step = "clicked"
    window.dpscoLeft = link.pathname === location.pathname ? null : location.pathname
  }, true)
  window.addEventListener("popstate", () => { window.dpscoLeft = null })
}
