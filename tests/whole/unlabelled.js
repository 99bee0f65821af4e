// Names of the inputs that nothing labels.
() => [...document.querySelectorAll("input:not([type=hidden]), select")]
  .filter((input) => !input.labels.length && !input.getAttribute("aria-label"))
  .map((input) => input.name)
