/**
 * Runs a deletion and ignores the error if a legal hold forbids it. The kept rows become due again when the hold is
 * lifted. The `legal_hold` triggers decide, under the lock of the workspace.
 */
export async function untilHeld(deletion: () => Promise<void>): Promise<void> {
  try {
    await deletion();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'IBHLD') throw error;
  }
}
