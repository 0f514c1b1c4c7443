import HTTPTransport
import Logging
internal import Media
import NIOHTTP1
import Signalling

/// Candidates that are sent after the offer (RFC 9725, 4.3.2). Failing to send them does no harm: they are an addition.
extension WHIPSession {
  mutating func add(_ candidate: TrickledCandidate, now: MonotonicInstant) {
    switch state {
    case .ended, .leaving, .waitingToReturn: return
    default: break
    }
    guard isTrickling, waitingCandidates.count < Self.maximumWaitingCandidates else { return }
    waitingCandidates.append(candidate)
    if sendsCandidatesAt == nil { sendsCandidatesAt = now + options.trickleDelay }
  }

  /// Sends the candidates that wait, if they waited long enough and no request with others is in progress.
  mutating func sendCandidates(of resource: Resource, now: MonotonicInstant) -> [Action] {
    guard let due = sendsCandidatesAt, now >= due, trickleRequest == nil else { return [] }
    sendsCandidatesAt = nil
    let candidates = waitingCandidates
    waitingCandidates = []
    guard isTrickling, let url = resource.url, let fragment = SDPFragment(adding: candidates, to: resource.local)
    else { return [] }
    let (number, action) = request(
      .PATCH, url, type: SDPFragment.mediaType, ifMatch: resource.entityTag, body: fragment.text,
      timeout: options.trickleTimeout, scope: resource.scope)
    trickleRequest = number
    return [action]
  }

  mutating func trickleResponded(
    _ result: Result<HTTPResponse, HTTPError>, now: MonotonicInstant
  ) -> [Action] {
    trickleRequest = nil
    guard case .open = state else { return [] }
    switch result {
    case .success(let response) where response.statusClass == 2:
      return []
    case .success(let response) where response.status.isGone:
      return sessionEnded(now: now)
    case .success(let response):
      return stopTrickling("it responded \(response.status.code)")
    case .failure(let error):
      return stopTrickling(error.description)
    }
  }

  private mutating func stopTrickling(_ reason: String) -> [Action] {
    isTrickling = false
    waitingCandidates = []
    sendsCandidatesAt = nil
    return [.log(.notice, "The \(role) server takes no further candidates: \(reason).".withOnePeriod)]
  }
}

extension String {
  /// Removes a doubled period at the end of a sentence that ends with another sentence.
  var withOnePeriod: String { hasSuffix("..") ? String(dropLast()) : self }
}
