/**
 * Whether the text from a path, header or query can be the id of a merchant or site: 1 to 15 digits, which a number can
 * represent exactly, without a leading zero, so that the text of an id is unique.
 */
export function isNumericId(text: unknown): text is string {
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text);
}
