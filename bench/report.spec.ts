import { type Section, toMarkdown, toText, toThreeDigits } from './report.ts';

const section: Section = {
  title: 'Part',
  tables: [{ title: 'Table', columns: ['', 'a'], rows: [['x', '1']] }],
  figures: [
    { name: 'rate', value: 250, unit: 'a second', promised: 200 },
    { name: 'wait', value: 90, unit: 'ms', promised: 80, direction: 'most' },
  ],
  problems: [],
  data: undefined,
};

test('toText shows for each figure whether its promised bound holds', () => {
  const text = toText(section);
  expect(text).toMatch(/rate +250 a second +at least 200 a second +holds/);
  expect(text).toMatch(/wait +90 ms +at most 80 ms +FALLS SHORT/);
});

test('toMarkdown and toText mark a section with a problem as void, with the reason', () => {
  const report = {
    measuredAt: '',
    commit: '',
    machine: '',
    command: '',
    sections: [{ ...section, problems: ['a duplicate charge'] }],
  };
  expect(toMarkdown(report)).toMatch(/## Part\n\n\*\*Void\*\*: a duplicate charge/);
  expect(toText(report.sections[0]!)).toContain('VOID');
});

test.each([
  [1234.5, '1235'],
  [12.345, '12.3'],
  [0.012345, '0.0123'],
  [NaN, '–'],
])('toThreeDigits formats %f as %s', (value, text) => {
  expect(toThreeDigits(value)).toBe(text);
});
