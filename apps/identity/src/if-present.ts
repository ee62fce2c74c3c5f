import { ValidateIf } from 'class-validator';

/** Validates a field of a PATCH only if it is present. Unlike `IsOptional`, it does not allow null. */
export function IfPresent(): PropertyDecorator {
  return ValidateIf((_, value: unknown) => value !== undefined);
}
