/** A PDF with one line of text per page. */
export function pdf(pages: string[]): string {
  const kids = pages.map((_, index) => `${index * 2 + 4} 0 R`).join(' ');
  const objects = pages.flatMap((text, index) => {
    const stream = `BT /F1 24 Tf 72 72 Td (${text}) Tj ET`;
    return [
      `${index * 2 + 4} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]/Contents ${index * 2 + 5} 0 R/Resources<</Font<</F1 3 0 R>>>>>>endobj`,
      `${index * 2 + 5} 0 obj<</Length ${stream.length}>>stream\n${stream}\nendstream endobj`,
    ];
  });
  return [
    '%PDF-1.4',
    '1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj',
    `2 0 obj<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>endobj`,
    '3 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj',
    ...objects,
    `trailer<</Root 1 0 R/Size ${pages.length * 2 + 4}>>`,
  ].join('\n');
}
