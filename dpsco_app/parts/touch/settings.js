// On a phone the controls are in a sidebar that starts closed: this opens it.

export default function ({ data, parentElement }) {
  parentElement.querySelector("button").textContent = data.words
  parentElement.querySelector("button").onclick = () => document.querySelector(data.button)?.click()
}
