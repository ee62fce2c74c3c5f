import { ValidateIf } from 'class-validator';

/** For optional fields of a PATCH; unlike `IsOptional` it rejects null. */
export function IfPresent(): PropertyDecorator {
  return ValidateIf((_, value: unknown) => value !== undefined);
}
