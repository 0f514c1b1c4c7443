import Testing

/// Expects two lists to be the same, and says where they part if they are not.
///
/// `#expect` would describe every element of both, which takes minutes when these are thousands of buffers.
func expectSame<Element: Equatable>(
  _ actual: [Element], _ wanted: [Element], _ about: @autoclosure () -> String = "",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard actual != wanted else { return }
  let first = zip(actual, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
  let position = first ?? min(actual.count, wanted.count)
  Issue.record(
    "\(about()) \(actual.count) instead of \(wanted.count) elements; they part at number \(position).",
    sourceLocation: sourceLocation)
}

/// Expects something of every element of a long list, and says which is the first that breaks it.
func expectAll<Element>(
  _ elements: some Sequence<Element>, sourceLocation: SourceLocation = #_sourceLocation,
  _ holds: (Element) throws -> Bool
) rethrows {
  guard let position = try elements.enumerated().first(where: { try !holds($0.element) })?.offset else { return }
  Issue.record("It does not hold of element number \(position).", sourceLocation: sourceLocation)
}
