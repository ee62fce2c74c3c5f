/** The element the server rendered under this id. @throws Error when script and page do not belong together */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element as T;
}

export function paragraph(text: string, className = ''): HTMLParagraphElement {
  const element = document.createElement('p');
  if (className !== '') element.className = className;
  element.textContent = text;
  return element;
}
