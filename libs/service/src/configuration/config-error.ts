/** A configuration that a program cannot start with; its message is for who wrote it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
