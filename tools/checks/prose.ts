import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Phrases that are hard to read for people with another first language, each with advice. This check is not a grammar
 * checker: it only finds the phrases of this table, in Markdown and in the comments of TypeScript. A phrase that also
 * occurs in clear prose must not be added.
 */
const PHRASES: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/\b(?:is|are|was|were|be|been|being|not) told\b/i, 'say which program reports what to whom'],
  [/\b(?:hears?|heard|hearing) of\b/i, 'write "receives" or "is notified of"'],
  [/\b(?:is|are|was|were|be|been) asked (?:for|about)\b/i, 'write who requests or queries it'],
  [/\b(?:stands?|stood) for\b/i, 'write "means", "identifies" or "is"'],
  [/\b(?:goes|went|gone|going) on\b/i, 'write "continues"'],
  [/\b(?:became|becomes) of (?:it|them|the|a|an|each)\b/i, 'write "its state" or "its result"'],
  [/\bsays? so\b/i, 'write what is shown, logged or returned'],
  [/\banew\b/i, 'write "again", "regenerate" or "new"'],
  [
    /\b(?:somebody|nobody|whoever)\b/i,
    'name the program, the client or the role; for a person write "a person" or "no person"',
  ],
  [
    /(?<=^|\u0001\s*|[.!?]\s+|\n\s*\n|\n[-*] |\*\* )(?:What|Who)\s(?:(?!\n\s*\n)[^.?!:;|\u0001])*[.!]/,
    'begin with a noun as the subject',
  ],
];

/** Folders whose TypeScript files are checked. */
const COVERED = ['apps', 'libs', 'tools', 'e2e', 'bench', 'deploy', 'docker', 'examples'];
/** This file and its fixtures are ignored, because they contain the phrases. */
const IGNORED = ['tools/checks/**', '**/node_modules/**', '**/dist/**'];

/** `path:line: phrase: advice` of each phrase that is found. */
export function findUnclearProse(root: string): string[] {
  const files = (pattern: string): string[] => globSync(pattern, { cwd: root, exclude: [...IGNORED] });
  const markdown = files('**/*.md');
  const code = COVERED.flatMap((folder) => files(`${folder}/**/*.{ts,tsx}`));
  return [...markdown, ...code].sort().flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return checkText(text, path.endsWith('.md') ? 'markdown' : 'code').map((problem) => `${path}:${problem}`);
  });
}

/** `line: phrase: advice` of each phrase in the prose of a text. */
export function checkText(text: string, kind: 'markdown' | 'code'): string[] {
  const prose = kind === 'markdown' ? hideMarkdownCode(text) : hideCode(text);
  return PHRASES.flatMap(([pattern, advice]) =>
    [...prose.matchAll(new RegExp(pattern.source.replaceAll(' ', '\\s+'), `${pattern.flags}g`))].map(
      ({ index, 0: found }) =>
        `${findLineNumber(text, index)}: "${found.slice(0, 60).replace(/\s+/g, ' ')}": ${advice}`,
    ),
  );
}

// The functions below replace characters that are not prose by U+0001. Line breaks stay, so that positions do not
// change.

/** Hides fenced code, headings, code spans, targets of links, and HTML comments. */
function hideMarkdownCode(text: string): string {
  return text.replace(/^```[^]*?^```|^ +```[^]*?^ +```|^#.*$|`[^`]*`|\]\([^)]*\)|<!--[^]*?-->/gm, hide);
}

/** Hides everything in TypeScript except the comments. Hides the stars and slashes of the comments too. */
function hideCode(text: string): string {
  let end = 0;
  let prose = '';
  for (const { index, 0: comment } of text.matchAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm)) {
    prose += hide(text.slice(end, index)) + comment.replace(/^\s*(?:\/\*\*?|\*\/?|\/\/)|\*\/$|`[^`]*`/gm, clear);
    end = index + comment.length;
  }
  return prose + hide(text.slice(end));
}

const hide = (text: string): string => text.replace(/[^\n]/g, '\u0001');
const clear = (text: string): string => (text.startsWith('`') ? hide(text) : text.replace(/[^\n]/g, ' '));
const findLineNumber = (text: string, index: number): number => text.slice(0, index).split('\n').length;
