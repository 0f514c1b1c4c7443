package import Testing

/// Expects two lists to be equal, and reports the first index at which they differ.
///
/// `#expect` would describe every element of both, which takes minutes for thousands of buffers.
package func expectSame<Element: Equatable>(
  _ actual: [Element], _ wanted: [Element], _ about: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard actual != wanted else { return }
  let first = zip(actual, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  let position = first ?? min(actual.count, wanted.count)
  Issue.record(
    "\(about()) \(actual.count) instead of \(wanted.count) elements; the first difference is at index \(position).",
    sourceLocation: sourceLocation)
}

/// Expects a condition of every element of a long list, and reports the first element that violates it.
package func expectAll<Element>(
  _ elements: some Sequence<Element>, sourceLocation: SourceLocation = #_sourceLocation,
  _ holds: (Element) throws -> Bool
) rethrows {
  guard let position = try elements.enumerated().first(where: { try !holds($0.element) })?.offset else { return }
  Issue.record("The condition does not hold for the element at index \(position).", sourceLocation: sourceLocation)
}
