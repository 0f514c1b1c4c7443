extension Fault {
  /// All faults with what they do and what a good app does then, for people.
  package static var list: String {
    allCases.map { fault in
      """
      \(fault.rawValue)
          \(fault.title)
          A good app: \(fault.expectedBehavior)
      """
    }.joined(separator: "\n\n")
  }
}
