/** Values of variables whose names say that they are secret. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && /KEY|TOKEN|SECRET|PASSWORD/i.test(name) ? [value] : [],
  );
}
