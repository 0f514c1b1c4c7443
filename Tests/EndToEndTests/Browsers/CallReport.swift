/// What a browser says of one of its calls. Times are milliseconds since 1970.
struct CallReport: Sendable {
  let json: JSON

  var state: String { json["state"].string ?? "" }

  /// When the browser made its offer; nil if it answered.
  var offeredAt: Double? { json["offeredAt"].double }
  var connectedAt: Double? { json["connectedAt"].double }
  var reportedAt: Double { json["reportedAt"].double ?? .nan }

  /// From the connection to this report, in seconds.
  var length: Double { (reportedAt - (connectedAt ?? .nan)) / 1000 }

  // MARK: Sent

  var framesSent: Int { json["sent"]["video"]["framesSent"].int ?? 0 }
  /// Of the time from the connection to the last figures.
  var framesSentPerSecond: Double {
    let last = json["sent"]["video"]["timestamp"].double ?? .nan
    return Double(framesSent) / (last - (connectedAt ?? .nan)) * 1000
  }
  var videoPacketsSent: Int { json["sent"]["video"]["packetsSent"].int ?? 0 }
  var audioPacketsSent: Int { json["sent"]["audio"]["packetsSent"].int ?? 0 }
  var keyframeRequestsReceived: Int { json["sent"]["video"]["pliCount"].int ?? 0 }
  var sentSize: String {
    let video = json["sent"]["video"]
    return "\(video["frameWidth"].int ?? 0)x\(video["frameHeight"].int ?? 0)"
  }

  /// What the page sent of video in each second, in bits, oldest first.
  var bitrates: [Double] { json["bitrates"].list.compactMap { $0["bitsPerSecond"].double } }

  // MARK: Received

  var framesReceived: Int { json["received"]["video"]["framesReceived"].int ?? 0 }
  var framesDecoded: Int { json["received"]["video"]["framesDecoded"].int ?? 0 }
  var packetsLost: Int { json["received"]["video"]["packetsLost"].int ?? 0 }
  var receivedSize: String {
    let video = json["received"]["video"]
    return "\(video["frameWidth"].int ?? 0)x\(video["frameHeight"].int ?? 0)"
  }

  private func track(_ kind: String) -> JSON {
    json["tracks"].list.last { $0["kind"].string == kind } ?? .null
  }

  /// When the first frame of the other side could be seen.
  var firstVideoFrameAt: Double? { track("video")["firstShownAt"].double }
  /// Frames shown since.
  var videoFramesShown: Int { track("video")["shown"].int ?? 0 }
  /// When the frame turned white.
  var flashes: [Double] { track("video")["flashes"].list.compactMap(\.double) }
  /// When the audio became loud.
  var beeps: [Double] { track("audio")["beeps"].list.compactMap(\.double) }
  /// The highest level heard; 1 is full scale.
  var loudest: Double { track("audio")["loudest"].double ?? 0 }
}
