// The horn: two tones without a file. Browsers let it sound only after a person has touched the page once.

const TEST_MS = 2000;

class Horn {
  #audio = new AudioContext();
  #source = null;
  #testUntil = 0;
  onchange = () => {};

  constructor() { this.#audio.addEventListener("statechange", () => this.onchange()); }

  get ready() { return this.#audio.state === "running"; }
  get sounding() { return this.#source !== null; }

  allow() { if (!this.ready) this.#audio.resume(); }

  test() {
    this.allow();
    this.#testUntil = performance.now() + TEST_MS;
  }

  sound(wanted) {
    const on = wanted || performance.now() < this.#testUntil;
    if (on && this.#source === null && this.ready) {
      this.#source = new AudioBufferSourceNode(this.#audio, { buffer: this.#tones(), loop: true });
      this.#source.connect(this.#audio.destination);
      this.#source.start();
    } else if (!on && this.#source !== null) {
      this.#source.stop();
      this.#source = null;
    }
    if (on && !this.ready && navigator.vibrate && navigator.userActivation?.hasBeenActive) navigator.vibrate(400);
  }

  #tones() {                    // high, low, pause: one second, looped by the audio thread, so a hidden tab sounds too
    const rate = this.#audio.sampleRate;
    const buffer = this.#audio.createBuffer(1, rate, rate);
    const data = buffer.getChannelData(0);
    for (let i = 0; i < rate; i += 1) {
      const at = i / rate;
      const hertz = at < 0.3 ? 960 : at < 0.6 ? 770 : 0;
      const edge = Math.min(1, (at % 0.3) / 0.01, (0.3 - (at % 0.3)) / 0.01);
      data[i] = hertz ? 0.5 * edge * Math.sin(2 * Math.PI * hertz * at) : 0;
    }
    return buffer;
  }
}

export const horn = new Horn();
