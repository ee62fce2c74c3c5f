/** A configuration with which a program cannot start. The message is for the person who wrote the configuration. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
