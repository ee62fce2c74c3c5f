/**
 * Whether the text of a path, header or query is the id of a merchant or site: 1 to 15 digits, which a number represents exactly,
 * without a leading zero, so that an id has one spelling.
 */
export function isNumericId(text: unknown): text is string {
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text);
}
