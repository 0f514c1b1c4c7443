import BotPeer
import DataMessages
import FoundationEssentials
import Logging
import Media
import NIOCore
import Recorder

/// A chat message that a user sent to us, or that we sent to a user.
struct ExchangedMessage: Sendable {
  var user: ParticipantID
  var isOurs: Bool
  /// The user's name; nil if the signalling knows none, and for a message of ours.
  var name: String?
  /// At most 16 KiB.
  var text: UntrustedText
}

/// Chat and files of a call: one ``UserMessages`` for each user with a data channel.
actor RoomMessages {
  private let plan: MessagePlan
  private let texts: [String]
  private let folder: ReceivedFileFolder?
  private let chat: ChatRecorder?
  private let noted: @Sendable (ExchangedMessage) -> Void
  private let loopbackDelay: Duration?
  private let log: Logger
  private let name: @Sendable (ParticipantID) -> String?
  private let allowances: MessageAllowances
  private var users: [ParticipantID: UserMessages] = [:]

  /// Reads what will be said and opens the folder of received files.
  ///
  /// - Parameters:
  ///   - loopbackDelay: the delay after which messages are sent back; nil not to send them back.
  ///   - recordings: the folder of the recordings; nil without one.
  ///   - chat: the writer of chat beside recordings; nil without a recording.
  ///   - noted: receives each chat message that is within the limits of its user.
  ///   - name: returns the name of a participant that the signalling knows.
  init(
    _ plan: MessagePlan, loopbackDelay: Duration?, recordings: String?, chat: ChatRecorder?, log: Logger,
    noted: @escaping @Sendable (ExchangedMessage) -> Void = { _ in },
    name: @escaping @Sendable (ParticipantID) -> String?
  ) throws(CallFailure) {
    self.plan = plan
    self.loopbackDelay = loopbackDelay
    self.chat = chat
    self.noted = noted
    self.log = log
    self.name = name
    texts = try plan.texts + Self.lines(of: plan.textFile)
    for path in plan.sentFiles { _ = try SentFile(path) }
    folder = try plan.receivedFiles.map { path throws(CallFailure) in
      try ReceivedFileFolder(path, recordings: recordings)
    }
    allowances = MessageAllowances(maximumFileBytes: plan.maximumFileBytes)
  }

  private static func lines(of path: String?) throws(CallFailure) -> [String] {
    guard let path else { return [] }
    let bytes: Data
    do {
      bytes = try BoundedFile.read(path, longest: 1 << 20)
    } catch {
      throw CallFailure(.fileNotPlayable, error.sentence)
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).prefix(MessageOptions.maximumTexts)
      .map(String.init)
  }

  /// Serves a data channel until it is closed.
  func serve(_ channel: DataChannel, of peer: Peer) async {
    let user = user(channel.participant, of: peer)
    await user.serve(channel)
    // The limits of a user last as long as the call, so that opening a channel again does not begin them again.
    if users.count > Self.maximumUsers, await user.isIdle, users[channel.participant] === user {
      users[channel.participant] = nil
    }
  }

  /// How many users are remembered after their channels were closed.
  private static let maximumUsers = 1_024

  private func user(_ participant: ParticipantID, of peer: Peer) -> UserMessages {
    if let known = users[participant] { return known }
    let user = UserMessages(
      participant, plan: plan, texts: texts, folder: folder, chat: chat, allowances: allowances, noted: noted,
      loopbackDelay: loopbackDelay, log: log, name: name(participant),
      openChannel: { peer.openDataChannel($0, to: participant) })
    users[participant] = user
    return user
  }

  /// The progress of all transfers in a few words for the status line; nil if there are none.
  func progress() async -> String? {
    var parts: [String] = []
    for user in users.values.sorted(by: { $0.participant < $1.participant }) {
      parts += await user.progress()
    }
    return parts.isEmpty ? nil : parts.prefix(3).joined(separator: ", ")
  }

  /// Waits until what was to be said and offered has been sent, but not longer than a limit.
  func finish(within limit: Duration) async {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      var isBusy = false
      for user in users.values where await user.isSending { isBusy = true }
      if !isBusy { break }
      try? await MediaThread.loop.sleep(for: .milliseconds(50))
    }
  }
}
