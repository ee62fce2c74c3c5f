/**
 * Fragments of the addresses in codes (specification, "Decode", support test; D2): a host, or the beginning of an
 * address. A fragment identifies the issuer of a code: this platform or a third-party provider, which is then queried
 * for the code. If the code is unknown, its format decides whether the error is "not found" or "unsupported".
 *
 * A code is untrusted text of up to 2 KiB, so matching must take linear time: no pattern may match the same characters
 * in two ways.
 */
export interface CodeFragments {
  /** Fragments of the addresses of codes, such as `pay.svc.example/c/`. They are plain text, not patterns. */
  readonly hosts: readonly string[];
  /** Fragments of short links. In a code, a digit precedes the fragment. */
  readonly shortLinks: readonly string[];
}

export type CodeFormat = 'host' | 'two-four-twenty' | 'sk' | 'twenty-digits' | 'crstpc' | 'short-link';

/** The formats of the specification's support test that need no fragment, in its order. */
const FORMATS: readonly (readonly [CodeFormat, RegExp])[] = [
  ['two-four-twenty', /^.{2}\/.{4}\/.{20}$/],
  ['sk', /^SK-\d+-\d{23}$/],
  ['twenty-digits', /^\d{20}$/],
  ['crstpc', /^CRSTPC(?:-\d+){5}$/],
];

/** The format of the trimmed code. If the code has several formats, the first one in the specification counts. */
export function matchCodeFormat(code: string, fragments: CodeFragments): CodeFormat | undefined {
  const text = code.trim();
  const fragmentKind = matchFragment(text, fragments);
  if (fragmentKind === 'host') return 'host';
  return FORMATS.find(([, pattern]) => pattern.test(text))?.[0] ?? fragmentKind;
}

/**
 * The kind of fragment that the trimmed code contains. A code that contains a fragment belongs to the owner of the
 * fragments.
 */
export function matchFragment(text: string, { hosts, shortLinks }: CodeFragments): 'host' | 'short-link' | undefined {
  // The specification's pattern `^.*(?:fragment).*$` matches only a single line.
  if (/[\n\r\u2028\u2029]/.test(text)) return undefined;
  if (hosts.some((fragment) => text.includes(fragment))) return 'host';
  return shortLinks.some((fragment) => hasFragmentAfterDigit(text, fragment)) ? 'short-link' : undefined;
}

/**
 * Equivalent to the pattern `^.*\d+(?:fragment).*$`, which is not linear because it can match a run of digits in
 * several ways.
 */
function hasFragmentAfterDigit(text: string, fragment: string): boolean {
  for (let position = text.indexOf(fragment, 1); position > 0; position = text.indexOf(fragment, position + 1)) {
    const charBefore = text.charCodeAt(position - 1);
    // The character codes of the digits 0 to 9.
    if (charBefore >= 0x30 && charBefore <= 0x39) return true;
  }
  return false;
}
