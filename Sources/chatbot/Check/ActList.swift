import BotPeer

/// What `--acts` prints.
enum ActList {
  static var text: String {
    Act.allCases.map { act in
      """
      \(act.rawValue)
          \(act.title)
          A good app: \(act.whatAGoodAppDoes)
      """
    }.joined(separator: "\n\n")
  }
}
