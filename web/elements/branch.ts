/** A page in the tree, as /branches lists it. */
export interface Branch {
  page_id: string;
  parent_page_id: string;
  path: string;
  title: string;
  status: string;
  has_children: boolean;
}

/** How many pages of a branch are shown at once. */
export const BRANCH_PAGE_SIZE = 100;
