internal import Media
internal import PeerEngine
internal import SCTP

/// The data channels of a driver's participants. It belongs to one event loop.
final class DataChannelRegistry {
  private var channels: [ParticipantID: [UInt16: DataChannel]] = [:]
  /// The channels that were requested and have no id yet, by token.
  private var requested: [Int: DataChannel] = [:]
  /// The channels that hold their participant's messages back.
  private var paused: [ParticipantID: Set<ObjectIdentifier>] = [:]
  /// Receives each channel that was not requested.
  private let opened: (DataChannel) -> Void

  init(opened: @escaping (DataChannel) -> Void) {
    self.opened = opened
  }

  func request(_ channel: DataChannel, token: Int) { requested[token] = channel }

  subscript(participant: ParticipantID, id: UInt16) -> DataChannel? { channels[participant]?[id] }

  /// Whether a participant's messages must stay in the association.
  func isPaused(_ participant: ParticipantID) -> Bool { paused[participant] != nil }

  func resumed(_ participant: ParticipantID, _ messages: ObjectIdentifier) {
    paused[participant]?.remove(messages)
    if paused[participant]?.isEmpty == true { paused[participant] = nil }
  }

  /// Carries out an action.
  ///
  /// - Parameter commands: makes the commands of a new channel.
  /// - Returns: whether the participant must pause now.
  func carryOut(
    _ action: DataChannelAction, of participant: ParticipantID, commands: () -> DataChannel.Commands
  ) -> Bool {
    switch action {
    case .opening(let id, let configuration, let token, let limits):
      if let token, let channel = requested.removeValue(forKey: token) {
        channels[participant, default: [:]][id] = channel
        channel.didGetID(id, maximumMessageBytes: limits.maximumMessageBytes)
      } else {
        add(
          DataChannel(participant, configuration, id: id, limits: limits, isOpenedByParticipant: false, commands()),
          id: id)
      }
    case .openedByParticipant(let id, let configuration, let limits):
      add(
        DataChannel(participant, configuration, id: id, limits: limits, isOpenedByParticipant: true, commands()),
        id: id)
    case .opened(let id):
      channels[participant]?[id]?.didOpen()
    case .message(let id, let message):
      guard let channel = channels[participant]?[id], channel.messages.append(message) else { break }
      paused[participant, default: []].insert(ObjectIdentifier(channel.messages))
      return true
    case .bufferedAmount(let id, let bytes):
      channels[participant]?[id]?.bufferedAmountChanged(to: bytes)
    case .closed(let id):
      if let channel = channels[participant]?.removeValue(forKey: id) {
        resumed(participant, ObjectIdentifier(channel.messages))
        channel.didClose()
      }
      if channels[participant]?.isEmpty == true { channels[participant] = nil }
    case .refused(let token, let sentence):
      requested.removeValue(forKey: token)?.didClose(because: sentence)
    }
    return false
  }

  private func add(_ channel: DataChannel, id: UInt16) {
    channels[channel.participant, default: [:]][id] = channel
    opened(channel)
  }
}

/// The data channels that participants open, for ``Peer/dataChannels``.
struct ReceivedDataChannels: Sendable {
  let stream: AsyncStream<DataChannel>
  private let continuation: AsyncStream<DataChannel>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1_024))
  }

  func add(_ channel: DataChannel) {
    switch continuation.yield(channel) {
    case .enqueued: break
    case .dropped, .terminated: channel.close()
    @unknown default: break
    }
  }

  func finish() { continuation.finish() }
}
