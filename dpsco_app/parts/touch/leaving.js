// The page that is left by a click on a link, until another one is clicked. A link to the front page
// has no path of its own.

export const leaving = () => {
  if ("dpscoLeft" in window) return
  window.dpscoLeft = null
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]")
    const apart = event.ctrlKey || event.metaKey || event.shiftKey || link?.target
    if (!link || apart || link.download) return
    window.dpscoLeft = link.pathname === location.pathname ? null : location.pathname
  }, true)
  window.addEventListener("popstate", () => { window.dpscoLeft = null })
}
