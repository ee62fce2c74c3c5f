/**
 * Returns the element with this id. It is missing only if the page and its script have different versions.
 * @throws Error if the element is missing
 */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element as T;
}

export function createParagraph(text: string, className = ''): HTMLParagraphElement {
  const element = document.createElement('p');
  if (className !== '') element.className = className;
  element.textContent = text;
  return element;
}
