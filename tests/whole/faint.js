// Texts that stand out from their ground by less than 4.5 to 1 (WCAG 1.4.3).
() => {
  const part = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).map((number) => part(number / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/^rgba\(.*, 0\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const speaks = (element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) && element.getClientRects().length;
  return [...document.querySelectorAll("body *")]
    .filter(speaks)
    .filter((element) => {
      const both = [light(getComputedStyle(element).color), light(ground(element))];
      return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05) < 4.5;
    })
    .map((element) => element.textContent.trim().slice(0, 40));
}
