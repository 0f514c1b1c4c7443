import BotPeer
import DataMessages
import Logging
import Media
import NIOCore

/// The chat and the files of one user.
///
/// The last opened channel without a subprotocol of files carries the messages, as in the clients of SkyRTC.
actor UserMessages {
  nonisolated let participant: ParticipantID
  private let plan: MessagePlan
  private let folder: ReceivedFileFolder?
  private let chat: ChatRecorder?
  private let noted: @Sendable (ExchangedMessage) -> Void
  private let loopbackDelay: Duration?
  private let loop: any EventLoop
  private let log: Logger
  private let name: String?
  private let openChannel: @Sendable (DataChannelConfiguration) -> DataChannel

  private var transfers: FileTransfers
  private var main: DataChannel?
  /// The channels of files, by numbers of our own.
  private var fileChannels: [UInt16: DataChannel] = [:]
  private var lastNumber: UInt16 = 0
  private var received: [FileTransferID: ReceivedFile] = [:]
  private var sent: [FileTransferID: SentFile] = [:]
  private var progressed: [FileTransferID: (bytes: Int64, total: Int64)] = [:]
  private var chatRate = ChatRate()
  private var hasBegun = false
  private var channelCount = 0
  private var timer: Task<Void, Never>?
  /// The channels whose buffered amount is awaited.
  private var awaited: Set<UInt16> = []
  private var hasReportedInvalid = false
  private var hasReportedTooLarge = false
  private var allowance: UserAllowance
  private var hasReportedChat = false
  private var fileReports = ChatRate()

  init(
    _ participant: ParticipantID, plan: MessagePlan, folder: ReceivedFileFolder?, chat: ChatRecorder?,
    allowances: CallAllowances, noted: @escaping @Sendable (ExchangedMessage) -> Void, loopbackDelay: Duration?,
    loop: any EventLoop, log: Logger, name: String?,
    openChannel: @escaping @Sendable (DataChannelConfiguration) -> DataChannel
  ) {
    self.participant = participant
    self.plan = plan
    self.folder = folder
    self.chat = chat
    allowance = UserAllowance(of: allowances)
    self.noted = noted
    self.loopbackDelay = loopbackDelay
    self.loop = loop
    self.log = log
    self.name = name
    self.openChannel = openChannel
    let policy = FilePolicy(
      acceptsFiles: folder != nil, maximumFileBytes: plan.maximumFileBytes,
      maximumTotalBytes: MessageAllowances.fileBytesPerUser(maximumFileBytes: plan.maximumFileBytes))
    transfers = FileTransfers(.init(policy: policy))
  }

  /// Whether there is no channel of the user.
  var isIdle: Bool { channelCount == 0 }

  /// Whether a file is being sent or received, or a message waits.
  var isSending: Bool { transfers.count > 0 || (main?.bufferedAmount ?? 0) > 0 }

  /// Serves a channel until it is closed.
  func serve(_ channel: DataChannel) async {
    channelCount += 1
    defer { channelCount -= 1 }
    if let loopbackDelay {
      await loopBack(channel, after: loopbackDelay)
    } else if UntrustedText(channel.configuration.subprotocol) == Self.fileSubprotocol {
      await serveFile(channel, number: nil)
    } else if channel.configuration.subprotocol.isEmpty {
      await serveMessages(channel)
    } else {
      // Nobody knows what it is for. It is read, because otherwise the user could not send on other channels.
      for await _ in channel.messages {}
    }
  }

  private static let fileSubprotocol = UntrustedText(DataMessageLimits.fileSubprotocol)

  private func loopBack(_ channel: DataChannel, after delay: Duration) async {
    for await message in channel.messages {
      if case .text(let text) = message, case .chat(let text)? = try? DataMessage(parsing: text) { await heard(text) }
      if delay > .zero { try? await loop.sleep(for: delay) }
      await sendBack(message, on: channel)
    }
  }

  private func sendBack(_ message: DataChannelMessage, on channel: DataChannel) async {
    do throws(DataChannel.SendError) {
      try await channel.send(message)
    } catch .closed {
      // Who closes a channel does not await its messages.
    } catch {
      if !hasReportedTooLarge {
        log.warning("A message cannot be sent back. \(error)", metadata: ["user": "\(participant)"])
      }
      hasReportedTooLarge = true
    }
  }

  // MARK: Messages

  private func serveMessages(_ channel: DataChannel) async {
    main = channel
    // Apps with channels of this label read only the one that they opened themselves.
    let isApp = UntrustedText(channel.configuration.label) == Self.appLabel
    if !hasBegun, !isApp || channel.isOpenedByParticipant {
      hasBegun = true
      transfers.configuration.maximumMessageBytes = channel.maximumMessageBytes ?? 65_536
      for text in plan.texts { await say(text, on: channel, isApp: isApp) }
      if !isApp { for path in plan.sentFiles { offer(path) } }
      await carryOut()
    }
    for await message in channel.messages {
      do {
        switch message {
        case .text(let text) where text.utf8.first != UInt8(ascii: "{"): await heard(UntrustedText(text))
        case .text(let text):
          switch try DataMessage(parsing: text) {
          case .chat(let text): await heard(text)
          case let message: transfers.receive(message, now: .now)
          }
        case .binary(let bytes):
          if case .chat(let text) = try DataMessage(chatIn: bytes) { await heard(text) }
        }
      } catch {
        if !hasReportedInvalid { log.warning("\(error)", metadata: ["user": "\(participant)"]) }
        hasReportedInvalid = true
      }
      await carryOut()
    }
    guard main === channel else { return }
    main = nil
    transfers.disconnected(now: .now)
    await carryOut()
  }

  /// The label of the channels of apps that call each other by name.
  private static let appLabel: UntrustedText = "WebRTCData"

  private func say(_ text: String, on channel: DataChannel, isApp: Bool) async {
    let message: DataChannelMessage =
      isApp ? .binary(ByteBuffer(string: text)) : .text(DataMessage.chat(UntrustedText(text)).text)
    do {
      try await channel.send(message)
      if isPaused { return }
      log.info("said", metadata: ["user": "\(participant)", "text": "\(text.printable(utf8Bytes: 200))"])
      let text = ChatEntry.shortened(UntrustedText(text))
      noted(ExchangedMessage(user: participant, isOurs: true, name: nil, text: text))
      await chat?.add(text, from: nil, name: nil, direction: .sent, only: participant)
    } catch {
      log.warning("\(error)", metadata: ["user": "\(participant)"])
    }
  }

  /// Whether nothing of the user may be stored, since the recording of them is paused.
  private var isPaused: Bool { chat?.isPaused(participant) ?? false }

  private func heard(_ whole: UntrustedText) async {
    guard chatRate.admits(now: .now), !isPaused else { return }
    let text = ChatEntry.shortened(whole)
    guard allowance.takeChat(ChatEntry.cost(of: text, sender: participant.text, name: name), now: .now) else {
      if !hasReportedChat {
        log.warning(
          "The user has sent \(allowance.chatBytes) bytes of chat; further messages are not recorded.",
          metadata: ["user": "\(participant)"])
      }
      hasReportedChat = true
      return
    }
    log.info("message", metadata: ["user": "\(participant)", "text": "\(text)"])
    noted(ExchangedMessage(user: participant, isOurs: false, name: name, text: text))
    await chat?.add(text, from: participant, name: name, direction: .received, only: nil)
  }

  // MARK: Files

  private func offer(_ path: String) {
    do {
      let file = try SentFile(path)
      let id = try transfers.offer(name: file.name, size: file.size, now: .now)
      sent[id] = file
    } catch {
      log.warning("The file \(path) was not offered: \(error)", metadata: ["user": "\(participant)"])
    }
  }

  private func serveFile(_ channel: DataChannel, number known: UInt16?) async {
    let number = known ?? newNumber()
    fileChannels[number] = channel
    if known == nil {
      transfers.channelOpened(number, label: channel.configuration.label, isOpenedByPeer: true, now: .now)
      await carryOut()
    }
    for await message in channel.messages {
      switch message {
      case .binary(let bytes): transfers.received(bytes, on: number, now: .now)
      case .text(let text): transfers.received(text: text, on: number, now: .now)
      }
      await carryOut()
    }
    fileChannels[number] = nil
    transfers.channelClosed(number, now: .now)
    await carryOut()
  }

  private func newNumber() -> UInt16 {
    repeat { lastNumber &+= 1 } while fileChannels[lastNumber] != nil
    return lastNumber
  }

  private func openFileChannel(label: String) {
    let channel = openChannel(
      DataChannelConfiguration(label: label, subprotocol: DataMessageLimits.fileSubprotocol))
    let number = newNumber()
    channelCount += 1
    Task {
      transfers.channelOpened(number, label: label, isOpenedByPeer: false, now: .now)
      fileChannels[number] = channel
      await carryOut()
      await serveFile(channel, number: number)
      channelCount -= 1
    }
  }

  /// Whether ``carryOut()`` runs: it must not run twice at a time, because actions are carried out in order.
  private var isCarryingOut = false

  private func carryOut() async {
    if isCarryingOut { return }
    isCarryingOut = true
    defer { isCarryingOut = false }
    while true {
      let actions = transfers.takeActions()
      if actions.isEmpty { break }
      for action in actions { await carryOut(action) }
    }
    schedule()
  }

  private func carryOut(_ action: FileTransferAction) async {
    switch action {
    case .send(let text): try? main?.enqueue(.text(text))
    case .openChannel(let label): openFileChannel(label: label)
    case .sendBinary(let number, let bytes):
      guard let channel = fileChannels[number] else { break }
      try? channel.enqueue(.binary(bytes))
      awaitBufferedAmount(of: channel, number)
    case .sendText(let number, let text): try? fileChannels[number]?.enqueue(.text(text))
    case .closeChannel(let number): fileChannels[number]?.close()
    case .createFile(let id, let name, let offer): await create(id, name, offer)
    case .write(let id, let bytes):
      if isPaused {
        transfers.fileFailed(id, reason: "The recording is paused.", now: .now)
        break
      }
      do {
        try received[id]?.write(bytes)
      } catch {
        transfers.fileFailed(id, reason: "\(error)", now: .now)
      }
    case .finish(let id, let sha256): await finish(id, sha256)
    case .abandon(let id, let failure, let bytes, let sha256):
      progressed[id] = nil
      guard let file = received.removeValue(forKey: id) else { break }
      allowance.giveBackFile(file.size - file.written)
      log.warning("A file broke off: \(failure)", metadata: ["user": "\(participant)", "file": "\(file.name)"])
      await folder?.broke(file, of: participant, because: "\(failure)", bytes: bytes, sha256: sha256)
    case .readNeeded(let id, let offset, let count):
      do {
        guard let bytes = try sent[id]?.read(at: offset, upTo: count) else { break }
        transfers.fileRead(id, bytes, now: .now)
      } catch {
        transfers.fileFailed(id, reason: "\(error)", now: .now)
      }
    case .progress(let id, let bytes, let total): progressed[id] = (bytes, total)
    case .sent(let id, let sha256):
      progressed[id] = nil
      guard let file = sent.removeValue(forKey: id) else { break }
      log.info(
        "file sent", metadata: ["user": "\(participant)", "file": "\(file.name)", "sha256": "\(sha256)"])
    case .sendFailed(let id, let failure):
      progressed[id] = nil
      guard let file = sent.removeValue(forKey: id) else { break }
      log.warning("A file was not sent: \(failure)", metadata: ["user": "\(participant)", "file": "\(file.name)"])
    case .refused(_, let name, let refusal):
      guard fileReports.admits(now: .now) else { break }
      log.notice(
        "A file was refused: \(refusal)",
        metadata: ["user": "\(participant)", "file": "\(name)"])
    }
  }

  private func create(_ id: FileTransferID, _ name: FileName, _ offer: FileOffer) async {
    do {
      if isPaused { return transfers.fileFailed(id, reason: "The recording is paused.", now: .now) }
      guard let folder else { return transfers.fileFailed(id, reason: "There is no folder.", now: .now) }
      guard allowance.takeFile(offer.size, now: .now) else {
        return transfers.fileFailed(id, reason: "The files of this user or this call reach their limit.", now: .now)
      }
      received[id] = try await folder.create(name, size: offer.size)
      transfers.fileCreated(id, now: .now)
    } catch {
      allowance.giveBackFile(offer.size)
      transfers.fileFailed(id, reason: "\(error)", now: .now)
    }
  }

  private func finish(_ id: FileTransferID, _ sha256: String) async {
    progressed[id] = nil
    guard let file = received.removeValue(forKey: id), let folder else { return }
    do {
      let name = try await folder.complete(file, of: participant, sha256: sha256)
      log.info(
        "file received",
        metadata: [
          "user": "\(participant)", "file": "\(name)", "bytes": "\(file.written)", "sha256": "\(sha256)",
        ])
      transfers.fileStored(id, now: .now)
    } catch {
      transfers.fileFailed(id, reason: "\(error)", now: .now)
    }
  }

  private func awaitBufferedAmount(of channel: DataChannel, _ number: UInt16) {
    guard awaited.insert(number).inserted else { return }
    Task {
      await channel.bufferedAmountFalls(to: DataMessageLimits.bufferedAmountLowThreshold)
      awaited.remove(number)
      transfers.bufferedAmountChanged(channel.bufferedAmount, of: number, now: .now)
      await carryOut()
    }
  }

  private func schedule() {
    timer?.cancel()
    guard let deadline = transfers.deadline else { return timer = nil }
    timer = Task {
      let pause = deadline - MonotonicInstant.now
      if pause > .zero { try? await loop.sleep(for: pause) }
      if Task.isCancelled { return }
      transfers.advance(now: .now, mainBufferedAmount: main?.bufferedAmount ?? 0)
      await carryOut()
    }
  }

  /// The progress of each transfer in a few words.
  func progress() -> [String] {
    progressed.sorted { $0.key.number < $1.key.number }.map { id, progress in
      let percent = progress.total > 0 ? progress.bytes * 100 / progress.total : 100
      let name = received[id]?.name ?? sent[id]?.name ?? "file"
      return "\(name.printable(utf8Bytes: 24)) \(percent) %"
    }
  }
}
