// On a phone the controls are in a sidebar that starts closed: this opens it.

export default function ({ parentElement }) {
  parentElement.querySelector("button").onclick = () =>
    document.querySelector("[data-testid=stExpandSidebarButton]")?.click()
}
