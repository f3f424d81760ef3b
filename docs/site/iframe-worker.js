// The search runs in a worker, and browsers start none for a page that is opened from the disk.
// There a hidden frame takes its place: it runs the same script and exchanges the same messages.
(() => {
  if (location.protocol !== "file:") return;
  const inFrame = `
    self.postMessage = message => parent.postMessage(message, "*");
    self.importScripts = (...urls) => urls.reduce((done, url) => done.then(() =>
      new Promise((resolve, reject) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: resolve, onerror: reject });
        document.head.append(script);
      })), Promise.resolve());`;
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise(resolve => { this.frame.onload = resolve; });
      this.frame.srcdoc = `<script>${inFrame}</script><script src="${url}"></script>`;
      addEventListener("message", event => {
        if (event.source !== this.frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.postMessage(data, "*"));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
})();
