/** The element with this id. @throws Error if it is missing, because script and page are of different versions */
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
