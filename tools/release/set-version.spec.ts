import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseChangelog, VERSIONED_FILES } from './set-version.ts';

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0 (2026-01-01)\n\n- Older.\n';

test('the unreleased changes get the version and date of the release, above older releases', () => {
  expect(releaseChangelog(CHANGELOG, '1.0.0-rc.1', '2026-11-27')).toBe(
    '# Changelog\n\n## Unreleased\n\n## 1.0.0-rc.1 (2026-11-27)\n\n- A change.\n\n## 0.1.0 (2026-01-01)\n\n- Older.\n',
  );
});

test.each([
  ['without unreleased changes', CHANGELOG.replace('- A change.\n', '')],
  ['without the heading', CHANGELOG.replace('Unreleased', 'Next')],
])('a changelog %s is refused', (_name, text) => {
  expect(() => releaseChangelog(text, '1.0.0', '2026-11-27')).toThrow('CHANGELOG.md');
});

test.each(VERSIONED_FILES)('%s contains the current version after %j', (file, before) => {
  const root = join(import.meta.dirname, '../..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect(readFileSync(join(root, file), 'utf8')).toContain(`${before}${version}`);
});
