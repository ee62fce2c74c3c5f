/**
 * Fills the placeholders of a message. This function has its own file, so that the page's script can import it without
 * all languages.
 */
export function fill(message: string, values: Readonly<Record<string, string | number>>): string {
  return message.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
}
