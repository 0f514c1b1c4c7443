extension Console {
  /// Prints a sentence after a time, unless the task is cancelled before it.
  ///
  /// - Parameter isOver: whether the sentence is of no use any more; called after the time.
  package func announce(
    _ sentence: String, after delay: Duration = .seconds(1),
    unless isOver: @escaping @Sendable () async -> Bool = { false }
  ) -> Task<Void, Never> {
    Task {
      guard (try? await Task.sleep(for: delay)) != nil, await !isOver(), !Task.isCancelled else { return }
      say(sentence)
    }
  }
}
