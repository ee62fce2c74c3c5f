/** Problems that Redocly's linter finds in a document of the reference. */
import { createConfig, lintFromString } from '@redocly/openapi-core';

export async function lint(file: string, text: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The operations for health and public keys have no error responses.
      'operation-4xx-response': 'off',
      'info-license': 'off',
    },
  });
  const problems = await lintFromString({ source: text, absoluteRef: file, config });
  return problems.map(({ ruleId, message, location }) => `${file} ${location[0]?.pointer ?? ''} ${ruleId}: ${message}`);
}
