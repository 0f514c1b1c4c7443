import NIOCore

/// The part of a multicast DNS query (RFC 6762, 18) that a responder with addresses needs.
struct MDNSQuery: Sendable, Hashable {
  /// A question of class IN for an address, or for any record.
  struct Question: Sendable, Hashable {
    let name: MDNSName
    /// Nil for a record of any type.
    let type: MDNSMessage.RecordType?
  }

  /// The questions with a name like those of browsers.
  private(set) var questions: [Question] = []
  /// The address records that the sender knows already.
  private(set) var knownAnswers: [MDNSMessage.AddressRecord] = []

  /// The type that asks for all records (RFC 1035, 3.2.3).
  private static let anyType: UInt16 = 255

  /// Parses a query; nil for a response or a damaged message. At most 64 questions and 64 records are read. Whether a
  /// unicast response is wanted (RFC 6762, 5.4) is ignored: a multicast response is allowed in any case.
  init?(parsing datagram: ByteBuffer) {
    guard
      let (_, flags, questionCount, answerCount, _, _) = datagram.getMultipleIntegers(
        at: datagram.readerIndex, as: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16).self),
      // QR and the opcode are 0 (RFC 6762, 18.2 and 18.3).
      flags & 0xF800 == 0, Int(questionCount) <= MDNSMessage.maximumQuestions
    else { return nil }
    var reader = DNSReader(datagram, offset: MDNSMessage.headerLength)
    do {
      for _ in 0..<questionCount {
        let start = reader.offset
        try reader.skipName()
        let (type, questionClass) = try reader.questionFields()
        guard questionClass & ~MDNSMessage.topBit == MDNSMessage.classInternet,
          type == Self.anyType || MDNSMessage.RecordType(rawValue: type) != nil,
          let text = try reader.name(at: start), let name = MDNSName(text)
        else { continue }
        questions.append(Question(name: name, type: MDNSMessage.RecordType(rawValue: type)))
      }
      for _ in 0..<min(Int(answerCount), MDNSMessage.maximumRecords) {
        if let record = try MDNSMessage.addressRecord(from: &reader) { knownAnswers.append(record) }
      }
    } catch {
      return nil
    }
  }
}
