package import BotPeer
import DataMessages
package import Logging
package import Media
package import NIOCore

/// Chat and files of a call: one ``UserMessages`` for each user with a data channel.
package actor RoomMessages {
  private let plan: MessagePlan
  private let folder: ReceivedFileFolder?
  private let chat: ChatRecorder?
  private let noted: @Sendable (ExchangedMessage) -> Void
  private let loopbackDelay: Duration?
  private let loop: any EventLoop
  private let log: Logger
  private let name: @Sendable (ParticipantID) -> String?
  private let allowances: CallAllowances
  private var users: [ParticipantID: UserMessages] = [:]

  /// Checks that the files to offer can be read, and opens the folder of received files.
  ///
  /// - Parameters:
  ///   - loopbackDelay: the delay after which messages are sent back; nil not to send them back.
  ///   - recordings: the folder of the recordings; nil without one.
  ///   - chat: the writer of chat beside recordings; nil without a recording.
  ///   - loop: its clock is that of timers.
  ///   - noted: receives each chat message that is within the limits of its user.
  ///   - name: returns the name of a participant that the signalling knows.
  package init(
    _ plan: MessagePlan, loopbackDelay: Duration?, recordings: String?, chat: ChatRecorder?, on loop: any EventLoop,
    log: Logger,
    noted: @escaping @Sendable (ExchangedMessage) -> Void = { _ in },
    name: @escaping @Sendable (ParticipantID) -> String?
  ) throws(FileTransferError) {
    self.plan = plan
    self.loopbackDelay = loopbackDelay
    self.chat = chat
    self.loop = loop
    self.noted = noted
    self.log = log
    self.name = name
    for path in plan.sentFiles { _ = try SentFile(path) }
    folder = try plan.receivedFiles.map { path throws(FileTransferError) in
      try ReceivedFileFolder(path, recordings: recordings)
    }
    allowances = CallAllowances(maximumFileBytes: plan.maximumFileBytes)
  }

  /// Serves a data channel until it is closed.
  package func serve(_ channel: DataChannel, of peer: Peer) async {
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
      participant, plan: plan, folder: folder, chat: chat, allowances: allowances, noted: noted,
      loopbackDelay: loopbackDelay, loop: loop, log: log, name: name(participant),
      openChannel: { peer.openDataChannel($0, to: participant) })
    users[participant] = user
    return user
  }

  /// The progress of all transfers in a few words for the status line; nil if there are none.
  package func progress() async -> String? {
    var parts: [String] = []
    for user in users.values.sorted(by: { $0.participant < $1.participant }) {
      parts += await user.progress()
    }
    return parts.isEmpty ? nil : parts.prefix(3).joined(separator: ", ")
  }

  /// Waits until what was to be said and offered has been sent, but not longer than a limit.
  package func finish(within limit: Duration) async {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
      var isBusy = false
      for user in users.values where await user.isSending { isBusy = true }
      if !isBusy { break }
      try? await loop.sleep(for: .milliseconds(50))
    }
  }
}
