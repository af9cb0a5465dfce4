/**
 * Deletes, and ends well where a legal hold forbids it: what the hold saves is due again when it is lifted. The triggers
 * `legal_hold` decide, under the lock of the workspace.
 */
export async function untilHeld(deletion: () => Promise<void>): Promise<void> {
  try {
    await deletion();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'IBHLD') throw error;
  }
}
