/** A configuration with which a program cannot start; the message is for its author. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
